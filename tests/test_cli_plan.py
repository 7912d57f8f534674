"""`floodway plan` as users call it: flags, files, scenarios, folders, wrong input."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import floodway as simulator
from command import environment

if TYPE_CHECKING:
    from command import Command

SMALL = ("--rate", "100G", "--length", "2km")


def test_the_question_is_answered_with_sentences_tables_and_verdicts(floodway: Command) -> None:
    done = floodway("plan", *SMALL, "--buffer", "1MB", "--links", "8", "--full")
    assert done.code == 0
    assert "8 links of 100G over 2 km, 10 us one way, one lossless class, 1 MB of buffer" in done.out
    assert "PFC, on-off: not enough, by" in done.out
    assert "holds with" in done.out
    assert "nothing:" in done.out
    assert "warning: memory is counted in bytes" in done.out


def test_the_answer_is_one_sentence_and_the_terminal_has_room_for_all(floodway: Command) -> None:
    chip = ("--asic", "tomahawk-3", "--mix", "dnx", "--no-simulate")
    asked = ("plan", "--rate", "400G", "--length", "40km", "--links", "8", *chip)
    lines = floodway(*asked, "--buffer", "64MB").out.splitlines()
    assert lines[2] == (
        "No: 64 MB carry 2 of your 8 links with PFC; lossless over all 8 takes 207 MB, or SWING's relays."
    )
    assert len(lines) <= 40
    # Forms of PFC with equal numbers are one row.
    assert sum(line.startswith(" PFC, on-off or") for line in lines) == 1
    for memory, begin in (
        ("500MB", "Yes: 500 MB are enough"),
        ("300MB", "300 MB are enough to lose nothing"),
    ):
        assert floodway(*asked, "--buffer", memory).out.splitlines()[2].startswith(begin)


def test_a_folder_has_the_page_the_document_and_scenarios_that_run(floodway: Command) -> None:
    done = floodway("plan", *SMALL, "--buffer", "20MB", "--out", "plan", "--quiet")
    assert (done.code, done.out) == (0, "")
    folder = floodway.folder / "plan"
    document = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert all(sentence.replace("'", "&#39;") in page for sentence in document["answers"])
    assert page.count("<img") == 3
    assert document["flow_controls"][0]["trial"]["holds"]
    # Whoever runs the kept scenarios again finds the same.
    for name, loses in (("pfc-least", False), ("pfc-one-cell-less", True)):
        result = simulator.run(simulator.load(folder / "scenarios" / f"{name}.toml"))
        assert (result.counters["drops_buffer"].sum() > 0) == loses


def test_the_same_question_gives_the_same_bytes_however_many_runs_are_at_work(floodway: Command) -> None:
    for name, jobs in (("a", "1"), ("b", "4")):
        assert floodway("plan", *SMALL, "--out", name, "--quiet", "--jobs", jobs).code == 0
    first, second = floodway.folder / "a", floodway.folder / "b"
    files = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    # Finished runs say how long they took.
    files = [file for file in files if file.name != "run.json"]
    assert files
    assert all((first / file).read_bytes() == (second / file).read_bytes() for file in files)


def test_a_plan_toml_asks_the_same(floodway: Command) -> None:
    file = floodway.folder / "plan.toml"
    file.write_text('rate = "100G"\nlength = "2km"\nlinks = 3\nbuffer = "1MB"\n', encoding="utf-8")
    of_file = floodway("plan", file, "--json", "--no-simulate")
    of_flags = floodway("plan", *SMALL, "--links", "3", "--buffer", "1MB", "--json", "--no-simulate")
    assert json.loads(of_file.out) == json.loads(of_flags.out)
    # An option comes before the file.
    other = floodway("plan", file, "--links", "5", "--json", "--no-simulate")
    assert json.loads(other.out)["asked"]["links"] == 5


def test_a_plan_toml_may_begin_with_a_mark_of_its_encoding(floodway: Command) -> None:
    file = floodway.folder / "plan.toml"
    file.write_bytes(b'\xef\xbb\xbfrate = "100G"\r\nlength = "2km"\r\n')
    assert floodway("plan", file, "--no-simulate", "--quiet").code == 0
    file.write_bytes(b'rate = "100G\xff"\n')
    assert "is not text in UTF-8" in floodway("plan", file, "--no-simulate").err


def test_an_option_s_fault_is_not_blamed_on_the_file(floodway: Command) -> None:
    file = floodway.folder / "plan.toml"
    file.write_text('rate = "100G"\nlength = "2km"\n', encoding="utf-8")
    done = floodway("plan", file, "--links", "0", "--no-simulate")
    assert done.err == "error: links: 0 is not from 1 to 512\n"


def test_nothing_is_overwritten_without_force(floodway: Command) -> None:
    asked = ("plan", *SMALL, "--buffer", "64MB", "--no-simulate", "--quiet")
    for option in ("--out", "--sonic"):
        assert floodway(*asked, option, "there").code == 0
        before = {file: file.read_bytes() for file in (floodway.folder / "there").rglob("*.json")}
        done = floodway(*asked, "--links", "2", option, "there")
        assert (done.code, done.err) == (2, "error: there: holds a plan already; --force replaces it\n")
        assert all(file.read_bytes() == content for file, content in before.items())
        assert floodway(*asked, "--links", "2", option, "there", "--force").code == 0
        assert any(file.read_bytes() != content for file, content in before.items())


def test_faults_are_found_before_libraries_are_imported() -> None:
    code = (
        "import sys\n"
        "from floodway.cli.app import app\n"
        "try:\n    app(['plan', '--rate', '1G', '--length', '1km', '--asic', 'TH9'], standalone_mode=False)\n"
        "except Exception as error:\n    print(error)\n"
        "print(sorted({'polars', 'matplotlib', 'pyarrow', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "'TH9' is not a chip" in done.stdout
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("plan --asic th", {"th2", "th3", "th4", "th5"}),
        ("plan --asic TH", {"TH2", "TH3", "TH4", "TH5"}),
        ("plan --mix ", {"any", "small", "dnx"}),
        ("explain tomahawk", {"tomahawk-2", "tomahawk-3", "tomahawk-4", "tomahawk-5"}),
        ("explain llama", {"llama-3-70b", "llama-3-405b"}),
        ("reproduce sw", {"swift", "swing"}),
        ("list ", {"mechanisms", "models", "chips", "papers"}),
    ],
)
def test_shells_complete_names(words: str, expected: set[str], floodway: Command) -> None:
    asked = {
        "_FLOODWAY_COMPLETE": "bash_complete",
        "COMP_WORDS": f"floodway {words}",
        "COMP_CWORD": str(len(words.split(" "))),
    }
    line = floodway.line()
    done = subprocess.run(line, env=environment() | asked, capture_output=True, text=True, check=False)
    assert {f"plain,{name}" for name in expected} <= set(done.stdout.split()), done.stderr


def test_a_dscp_of_data_is_that_of_captures_or_the_one_that_is_given(floodway: Command) -> None:
    asked = ("plan", *SMALL, "--buffer", "64MB", "--no-simulate", "--quiet", "--force", "--sonic", "sonic")
    for options, expected in (
        ((), {"24": "3"}),
        (("--dscp", "3=26", "--dscp", "3=24"), {"24": "3", "26": "3"}),
    ):
        assert floodway(*asked, *options).code == 0
        tables = json.loads((floodway.folder / "sonic" / "config_db.json").read_text(encoding="utf-8"))
        dscps = tables["DSCP_TO_TC_MAP"]["AZURE"]
        assert {dscp: number for dscp, number in dscps.items() if number == "3"} == expected
        junos = (floodway.folder / "sonic" / "junos.txt").read_text(encoding="utf-8")
        assert all(f"code-point {int(dscp):06b} pfc" in junos for dscp in expected)
    for option, message in (
        ("26", "dscp: '26' is not a class and its DSCP like \"3=26\""),
        ("4=26", "dscp: class 4 is not lossless here"),
        ("3=48", "dscp: 48 of class 3 is that of CNPs"),
    ):
        done = floodway(*asked, "--dscp", option)
        assert (done.code, message in done.err) == (2, True), done.err
    assert "only a configuration of SONiC has DSCPs" in floodway("plan", *SMALL, "--dscp", "3=26").err


def test_a_scenario_s_long_links_are_planned(floodway: Command) -> None:
    done = floodway("plan", "scenarios/three-sites.toml", "--json", "--no-simulate")
    assert done.code == 0
    delays = [each["asked"]["delay_ps"] for each in json.loads(done.out).values()]
    assert sorted(delays) == [200_000_000, 400_000_000, 600_000_000]
    done = floodway("plan", "scenarios/regional-hub.toml", "--json", "--no-simulate")
    (hub,) = json.loads(done.out).values()
    assert (hub["asked"]["links"], hub["asked"]["cell_bytes"]) == (4, 254)
    assert hub["asked"]["buffer_bytes"] == 6_441_610_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rate", "400G"), "length is missing: give --length 40km"),
        ((), "rate is missing: give --rate 400G"),
        ((*SMALL, "--asic", "tomahawk5"), "did you mean 'tomahawk-5'?"),
        ((*SMALL, "--flow-control", "pfcx"), "did you mean 'pfc'?"),
        ((*SMALL, "--kinds", "long-haul"), "kinds: only links of a scenario have kinds"),
        ((*SMALL, "--oversubscribe", "0.5"), "oversubscribe: 0.5 is not a number of at least 1"),
        ((*SMALL, "--oversubscribe", "inf"), "oversubscribe: inf is not a number of at least 1, and finite"),
        ((*SMALL, "--asic", "TH9"), "did you mean 'TH"),
        (("nowhere.toml",), "nowhere.toml: cannot be read: No such file or directory"),
        (
            ("scenarios/incast.toml",),
            "no link is longer than 10 us: choose one of agg-core, tor-agg, host-tor by --kinds",
        ),
        (("scenarios/demo.toml", "--kinds", "long-hall"), "did you mean 'long-haul'?"),
    ],
)
def test_wrong_input_is_named(floodway: Command, arguments: tuple[str, ...], message: str) -> None:
    done = floodway("plan", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('rate = "100G"\nlenght = "2km"\n', "'lenght' is not a key"),
        ('rate = "100G"\n', 'length is missing: give length = "40km"'),
        ('rate = "100G"\nlength = "2km"\nlinks = "3"\n', "links: '3' is not a whole number"),
        ('rate = 100\nlength = "2km"\n', "rate: 100 is not a text with a unit"),
        ("rate = \n", ":1: not TOML"),
        ('rate = "100G"\nlength = "2km\n', ":2: not TOML"),
        ('rate = "100G"\n\nlength = "2km"\nlinks = 0\n', ":4: links: 0 is not from 1 to 512"),
        ('rate = "100G"\nlength = "2km"\nasic = "TH9"\n', ":3: asic: 'TH9' is not a chip"),
        ('mix = """\nrate = 1\n"""\nrate = 7\n', ":4: rate: 7 is not a text"),
        ("rate.a = [1]\n", ":1: rate: a table is not a text with a unit"),
        (
            f"rate = {'[' * 5000}1{']' * 5000}\n",
            "plan.toml: tables and lists are nested too deeply: the maximum is 64",
        ),
    ],
)
def test_a_wrong_plan_toml_is_named(floodway: Command, text: str, message: str) -> None:
    file = floodway.folder / "plan.toml"
    file.write_text(text, encoding="utf-8")
    done = floodway("plan", file, "--no-simulate")
    assert done.code == 2
    assert str(file) in done.err
    assert message in done.err


@pytest.mark.parametrize("chip", ["tomahawk-3", "tofino-2", "spectrum-4"])
def test_a_plan_is_written_for_sonic_and_judged_to_hold(floodway: Command, chip: str) -> None:
    asked = ("--rate", "400G", "--length", "2km", "--buffer", "64MB", "--links", "3", "--asic", chip)
    done = floodway("plan", *asked, "--no-simulate", "--sonic", "sonic", "--quiet")
    assert (done.code, done.err) == (0, "")
    tables = json.loads((floodway.folder / "sonic" / "config_db.json").read_text(encoding="utf-8"))
    pool = tables["BUFFER_POOL"]["ingress_lossless_pool"]
    # SAI's size has the headroom in it, NVIDIA's has it beside it, and classes reserve a pipeline's bytes.
    beside = int(pool["xoff"]) + 3 * 38_912 if chip == "spectrum-4" else 0
    assert int(pool["size"]) + beside == 64_000_000
    assert 0 < int(pool["xoff"]) < 64_000_000
    assert sorted(tables["CABLE_LENGTH"]["AZURE"]) == ["Ethernet0", "Ethernet16", "Ethernet8"]
    for file in ("config_db.json", "pg_profile_lookup.ini"):
        judged = floodway("plan", "lint", f"sonic/{file}", "--asic", chip, "--full")
        assert judged.code == 0
        assert "holds for frames of any size" in judged.out
    assert "Not tried on a device" in (floodway.folder / "sonic" / "nx-os.txt").read_text(encoding="utf-8")


def test_nvidia_s_switches_reserve_their_pipeline_and_are_given_no_offset(floodway: Command) -> None:
    """As all their published rows do: they have a reserve, resume at it, and name no offset."""
    asked = ("--rate", "400G", "--length", "300m", "--links", "3", "--classes", "2", "--asic", "spectrum-4")
    written = (*asked, "--no-simulate", "--quiet", "--force", "--sonic", "sonic")
    assert floodway("plan", *written, "--buffer", "64MB").code == 0
    tables = json.loads((floodway.folder / "sonic" / "config_db.json").read_text(encoding="utf-8"))
    (profile,) = tables["BUFFER_PROFILE"].values()
    assert profile["size"] == profile["xon"] == "38912"
    assert "xon_offset" not in profile
    pool = tables["BUFFER_POOL"]["ingress_lossless_pool"]
    headroom, reserved = int(pool["xoff"]), 3 * 2 * 38_912
    assert int(pool["size"]) + headroom + reserved == 64_000_000
    lookup = (floodway.folder / "sonic" / "pg_profile_lookup.ini").read_text(encoding="utf-8")
    assert lookup.splitlines()[-1].split()[:4] == ["400000", "300m", "38912", "38912"]
    assert len(lookup.splitlines()[-1].split()) == 6
    assert floodway("plan", "lint", "sonic/config_db.json", "--asic", "spectrum-4").code == 0
    done = floodway("plan", *written, "--buffer", f"{headroom + reserved}B")
    assert done.code == 2
    assert "what they reserve 233,472, and 1 byte is missing" in done.err
    assert floodway("plan", *written, "--buffer", f"{headroom + reserved + 1}B").code == 0


def test_a_plan_that_cannot_be_met_is_not_written_for_sonic(floodway: Command) -> None:
    asked = ("--rate", "400G", "--length", "40km", "--buffer", "64MB", "--links", "8")
    done = floodway("plan", *asked, "--no-simulate", "--quiet", "--sonic", "sonic")
    assert done.code == 2
    assert "the plan cannot be met" in done.err
    assert "97,027,729 bytes are missing" in done.err
    assert not (floodway.folder / "sonic").exists()
    done = floodway("plan", *SMALL, "--no-simulate", "--quiet", "--sonic", "sonic")
    assert "sonic: a configuration needs a buffer's size" in done.err


def test_what_loses_in_its_run_ends_with_1(floodway: Command) -> None:
    asked = ("--rate", "100G", "--length", "20km", "--buffer", "20MB", "--links", "4", "--mtu", "1024B")
    done = floodway("plan", *asked, "--flow-control", "pfc", "--oversubscribe", "4")
    assert "The shared buffer, over-subscribed 4 times, lost" in done.out
    assert (done.code, done.err) == (1, "")
    over = (*asked, "--flow-control", "pfc", "--oversubscribe", "4", "--quiet")
    reason = "the shared buffer, over-subscribed 4 times, lost 6,856 packets in its run\n"
    done = floodway("plan", *over)
    assert (done.code, done.out, done.err) == (1, "", f"error: {reason}")
    done = floodway("plan", *over, "--sonic", "sonic")
    assert (done.code, done.out, done.err) == (1, "", f"error: sonic: not written: {reason}")
    assert not (floodway.folder / "sonic").exists()
    assert floodway("plan", *asked, "--flow-control", "pfc", "--quiet").code == 0


def test_headroom_that_not_all_links_can_have_at_once_is_written_with_its_condition(
    floodway: Command,
) -> None:
    asked = (
        *SMALL,
        "--buffer",
        "20MB",
        "--links",
        "4",
        "--asic",
        "TH4",
        "--no-simulate",
        "--oversubscribe",
        "2",
    )
    assert floodway("plan", *asked, "--sonic", "sonic", "--quiet").code == 0
    done = floodway("lint", "sonic/config_db.json", "--asic", "TH4")
    assert done.code == 0
    assert "\nholds if not all classes pause at once, as far as it is judged; " in done.out


def test_a_configuration_s_mtu_is_said_and_fits_the_ports(floodway: Command) -> None:
    asked = (*SMALL, "--buffer", "64MB", "--asic", "TH4", "--no-simulate", "--force", "--sonic", "sonic")
    done = floodway("plan", *asked)
    said = "set mtu 4152 in PORT for these ports, or plan with --mtu 9044B"
    assert (done.code, said in done.err) == (0, True)
    # A port with the mtu that is said holds, one that takes two bytes more does not.
    file = floodway.folder / "sonic" / "config_db.json"

    def code(*ports: tuple[str, int]) -> list[int]:
        found = []
        for options, mtu in ports:
            assert floodway("plan", *asked, *options.split(), "--quiet").code == 0
            tables = json.loads(file.read_text(encoding="utf-8"))
            tables["PORT"] = {"Ethernet0": {"lanes": "1", "speed": "100000", "mtu": str(mtu)}}
            file.write_text(json.dumps(tables), encoding="utf-8")
            found.append(floodway("lint", file, "--asic", "TH4").code)
        return found

    assert code(("", 4152), ("", 9100), ("--mtu 9044B", 9100)) == [0, 1, 0]
    assert "mtu" not in floodway("plan", *asked, "--mtu", "9044B").err


def test_what_a_chip_does_not_have_and_a_dscp_of_other_traffic_are_warned_of(floodway: Command) -> None:
    asked = ("plan", *SMALL, "--asic", "TH4", "--no-simulate")
    warned = floodway(*asked, "--buffer", "500MB", "--cell", "1B", "--sonic", "sonic", "--dscp", "3=0")
    assert "warning: 500 MB of buffer are more than Broadcom Tomahawk 4 has: 113 MB" in warned.out
    assert "warning: sizes are for cells of 1 B, and those of Broadcom Tomahawk 4 have 254 B" in warned.out
    assert "warning: DSCP 0 leads to lossless class 3, which is that of all traffic that is not" in warned.err
    right = floodway(*asked, "--buffer", "113MB", "--cell", "254B", "--sonic", "other")
    assert "Tomahawk 4 has" not in right.out
    assert "DSCP" not in right.err


def test_chips_have_the_alpha_that_they_take(floodway: Command) -> None:
    asked = ("--rate", "400G", "--length", "12km", "--buffer", "64MB", "--links", "8", "--no-simulate")
    for chip, alpha in (("tomahawk-3", "8 (dynamic_th 3)"), ("tofino-2", "128 (dynamic_th 7)")):
        done = floodway("plan", *asked, "--mix", "dnx", "--asic", chip, "--full")
        assert f"{alpha}, the largest of the chip" in done.out
        assert "no alpha of the chip keeps the link of a class that is alone busy" in done.out


def test_kinds_of_links_that_share_a_switch_are_warned_of(floodway: Command) -> None:
    ring = floodway.folder / "ring.toml"
    ring.write_text(
        """
limit = "1ms"
[topology.multi-dc]
sites = 3
fabric.single-switch = { hosts = 2 }
rate = "100G"
delay = "1us"
long-links = { ring = ["40km", "80km", "120km"], rate = "100G" }
[[workload]]
name = "w"
permutation = { size = "10KB" }
""",
        encoding="utf-8",
    )
    done = floodway("plan", ring, "--no-simulate", "--buffer", "64MB")
    assert "where they share a switch, their needs add up" in done.err
    refused = floodway("plan", ring, "--no-simulate", "--buffer", "64MB", "--sonic", "sonic")
    assert (refused.code, "choose one by --kinds" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ports", "Ethernet0"), "only a configuration of SONiC has ports"),
        (("--out", ""), "out: the name of a folder of its own is needed"),
        (("--sonic", "file"), "file: cannot be written"),
        (("--out", "file"), "file: cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_run(
    floodway: Command, options: tuple[str, str], message: str
) -> None:
    (floodway.folder / "file").write_text("", encoding="utf-8")
    done = floodway("plan", *SMALL, "--buffer", "64MB", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


@pytest.mark.parametrize(("react", "said"), [((), "1.158 us (IEEE 802.3)"), (("--react", "0us"), "0 us")])
def test_a_plan_says_how_soon_pauses_are_obeyed(floodway: Command, react: tuple[str, ...], said: str) -> None:
    done = floodway("plan", "--rate", "400G", "--length", "1km", "--no-simulate", *react)
    assert done.out.splitlines()[0].endswith(f", no cells; pauses obeyed within {said}")


@pytest.mark.parametrize(
    ("more", "begin"),
    [
        (("--rate", "1bps"), "error: rate: 1bps is too low: its runs would have times of "),
        (("--rate", "1G", "--survive", "flap=99999s"), "error: survive: this flap lasts too long: "),
        (("--rate", "1G", "--latency", "99999s"), "error: latency: this latency is too large: "),
    ],
)
def test_what_makes_runs_too_long_is_named_with_the_maximum(
    floodway: Command, more: tuple[str, ...], begin: str
) -> None:
    link = ("--length", "7m", "--buffer", "1KB", "--react", "0us", "--interface-delay", "0us")
    done = floodway("plan", *link, *more)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(begin)
    assert "and the maximum is 100,000 s; formulas alone need none" in done.err


def test_a_key_that_is_repeated_in_a_plan_toml_is_named_with_both_lines(floodway: Command) -> None:
    file = floodway.folder / "plan.toml"
    file.write_text('rate = "100G"\nlength = "2km"\nrate = "200G"\n', encoding="utf-8")
    done = floodway("plan", "plan.toml")
    assert (done.code, done.err) == (2, "error: plan.toml:3: not TOML: rate is there already, in line 1\n")


def test_the_help_of_plan_names_the_command_that_users_call(floodway: Command) -> None:
    assert floodway("plan", "--help").out.startswith("Usage: floodway plan [OPTIONS] [FILE]\n")
