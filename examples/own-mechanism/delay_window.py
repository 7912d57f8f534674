"""`src/delay_window.rs`, line by line, in Python: `floodway run incast.toml --python delay_window.py`."""

import floodway


class DelayWindowInPython(floodway.RateControl):
    """A window that keeps the round-trip time near a target.

    # What it does

    Each ACK whose round trip took less than `target` adds a packet a window; one that took longer cuts the
    window by `beta` times what the delay is over the target, at most once a round trip and at most by half.
    """

    target: floodway.Duration = floodway.Duration("20us")
    beta: float = 0.8

    def start(self, flow):
        self.window_bytes = float(max(flow.bdp_bytes, flow.mtu_bytes))
        self.packet = flow.mtu_bytes
        self.cut_at = 0

    def on_ack(self, ack):
        if ack.rtt_ps <= self.target:
            self.window_bytes += self.packet * ack.acked_bytes / self.window_bytes
        elif ack.now_ps - self.cut_at >= ack.rtt_ps:
            over = (ack.rtt_ps - self.target) / ack.rtt_ps
            self.window_bytes = max(self.window_bytes * max(1 - self.beta * over, 0.5), self.packet)
            self.cut_at = ack.now_ps
