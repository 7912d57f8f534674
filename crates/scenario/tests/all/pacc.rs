//! The reconstruction of PACC in scenarios: which switch sends CNPs to which flow, how often, and how senders
//! react.

#[allow(dead_code, reason = "other tests use the rest")]
use crate::columns::{reals, texts, wholes};
use crate::long_haul::{scenario, text};
use floodway_fabric::outcome::Verdict;
use floodway_fabric::{Control, Fabric, Records, ThreadPlan, Threads, Values};
use floodway_scenario::Scenario;
use floodway_units::Turns;

/// Opcode of a CNP.
const CNP: u8 = 0x81;

/// Four hosts send to a fifth for 2 ms, over one switch at 100 Gbit/s.
fn incast(defaults: &str, more: &str) -> Scenario {
    scenario(&incast_text(defaults, more))
}

fn incast_text(defaults: &str, more: &str) -> String {
    format!(
        "limit = \"2ms\"\n{more}\n\
         [topology.explicit]\nhosts = [\"h1\", \"h2\", \"h3\", \"h4\", \"r\"]\nswitches = [\"s\"]\nrate = \"100G\"\ndelay = \"1us\"\n\
         links = [{{ between = [\"h1\", \"s\"] }}, {{ between = [\"h2\", \"s\"] }}, {{ between = [\"h3\", \"s\"] }}, \
         {{ between = [\"h4\", \"s\"] }}, {{ between = [\"s\", \"r\"] }}]\n\
         [defaults]\nrate-control = \"dcqcn\"\nflow-control.pfc = {{ xoff = \"400KB\" }}\n{defaults}\n\
         [[workload]]\nname = \"incast\"\nflows = [{{ from = \"h1\", to = \"r\", size = \"unbounded\" }}, \
         {{ from = \"h2\", to = \"r\", size = \"unbounded\" }}, {{ from = \"h3\", to = \"r\", size = \"unbounded\" }}, \
         {{ from = \"h4\", to = \"r\", size = \"unbounded\" }}]\n"
    )
}

const PACC: &str = "congestion-point.pacc = { qref = \"100KB\" }";

fn run(scenario: &Scenario) -> Records {
    run_in(scenario, &scenario.thread_plan(Threads::Forced(1), 8))
}

fn run_in(scenario: &Scenario, thread_plan: &ThreadPlan) -> Records {
    let control = Control::default();
    let records = Fabric::build(scenario.blueprint(), &control).expect("it is sound").on(thread_plan).run();
    let invariants = &records.outcome.invariants;
    assert_eq!((&invariants.conservation, &invariants.buffers), (&Verdict::Holds, &Verdict::Holds));
    assert_eq!(invariants.slowdown, Verdict::Holds);
    assert!(records.outcome.lossless.is_held());
    records
}

/// A RoCEv2 frame of a capture.
#[derive(Clone, Copy)]
struct Frame<'a> {
    nanoseconds: u64,
    bytes: &'a [u8],
}

impl Frame<'_> {
    fn word(&self, at: usize) -> u32 {
        word(self.bytes, at, u32::from_be_bytes)
    }

    fn source(&self) -> u32 {
        self.word(26)
    }

    fn destination(&self) -> u32 {
        self.word(30)
    }

    fn opcode(&self) -> u8 {
        self.bytes[42]
    }

    /// DSCP and ECN bits.
    fn traffic_class(&self) -> u8 {
        self.bytes[15]
    }
}

fn word(bytes: &[u8], at: usize, read: fn([u8; 4]) -> u32) -> u32 {
    read(bytes[at..at + 4].try_into().expect("they are four"))
}

/// The RoCEv2 frames of a pcapng file whose times are in nanoseconds.
fn frames(file: &[u8]) -> Vec<Frame<'_>> {
    let (mut rest, mut found) = (file, Vec::new());
    let mut turns = Turns::at_most(10_000_000);
    while turns.go() && !rest.is_empty() {
        let field = |at| word(rest, at, u32::from_be_bytes);
        let (kind, length) = (field(0), field(4) as usize);
        let block = &rest[..length];
        rest = &rest[length..];
        if kind == 6 {
            let field = |at| word(block, at, u32::from_be_bytes);
            let bytes = &block[28..28 + field(20) as usize];
            let nanoseconds = u64::from(field(12)) << 32 | u64::from(field(16));
            found.extend((bytes[12..14] == [8, 0]).then_some(Frame { nanoseconds, bytes }));
        }
    }
    found
}

#[test]
fn the_switch_sends_each_sender_one_cnp_in_a_period_in_the_receivers_name() {
    let records =
        run(&incast(PACC, "records.capture = { links = \"*\", packets = 1000000, bytes = \"64B\" }"));
    let file = records.capture.as_deref().expect("it was asked for");
    let all = frames(file);
    let (cnps, others): (Vec<Frame<'_>>, Vec<_>) = all.into_iter().partition(|frame| frame.opcode() == CNP);
    let data: Vec<_> = others.into_iter().filter(|frame| frame.opcode() <= 0x0A).collect();
    let receiver = data[0].destination();
    let mut senders: Vec<u32> = data.iter().map(Frame::source).collect();
    senders.sort_unstable();
    senders.dedup();
    assert_eq!(senders.len(), 4);
    for sender in senders {
        let own: Vec<_> = cnps.iter().filter(|cnp| cnp.destination() == sender).collect();
        assert!(own.len() > 3, "{} CNPs", own.len());
        for cnp in &own {
            // From the flow's receiver, as if it had answered a mark, and not among data.
            assert_eq!(cnp.source(), receiver);
            assert_ne!(cnp.traffic_class() >> 2, data[0].traffic_class() >> 2);
        }
        // They wait for one another, and for an ACK at the most.
        assert!(own.windows(2).all(|pair| pair[1].nanoseconds - pair[0].nanoseconds > 79_900));
    }
    assert!(cnps.iter().all(|cnp| cnp.source() == receiver));
    assert!(data.iter().all(|frame| frame.traffic_class() & 3 != 3), "nothing is marked");
}

/// The longest queue toward the receiver in the last bucket of a run.
fn last_queue(records: &Records) -> f64 {
    let series = &records.series;
    let (objects, metrics) = (texts(series, "object"), texts(series, "metric"));
    let of = |row: &usize| objects[*row] == "s-r: s>r" && metrics[*row] == "queue_max_bytes";
    let row = (0..objects.len()).rfind(of).expect("the port is among the busiest");
    reals(series, "value")[row]
}

#[test]
fn senders_slow_down_as_dcqcn_does_until_the_queue_is_back_at_qref() {
    // DCQCN's next increase, of all senders at once, is due 900 us after the first cuts; targets are high
    // then.
    let short = |defaults: &str| {
        let text = incast_text(defaults, "records = { busiest = 1, buckets = 100 }");
        run(&scenario(&text.replace("\"2ms\"", "\"680us\"")))
    };
    let (with, without) = (short(PACC), short("congestion-point = []"));
    let cnps = |records: &Records| wholes(&records.flows, "cnps").to_vec();
    // One in each of five periods; then the queue falls by 400 KB in a period, and the controller asks for
    // none.
    assert_eq!((cnps(&with), cnps(&without)), (vec![5; 4], vec![0; 4]));
    let (low, high) = (last_queue(&with), last_queue(&without));
    assert!(low < 100_000.0 && high > 1_500_000.0, "{low} and {high}");
}

#[test]
fn signals_show_each_cnp_and_when_the_queue_is_beyond_qref() {
    let records = run(&incast(PACC, "records.signals = true"));
    let signals = records.signals.as_ref().expect("they were asked for");
    let (events, links) = (texts(signals, "event"), texts(signals, "link"));
    let (nodes, classes) = (texts(signals, "node"), wholes(signals, "class"));
    let toward = |row: &usize| (nodes[*row], links[*row], classes[*row]) == ("s", "s-r", 3);
    let events = &events;
    let of = |event| (0..events.len()).filter(move |row| events[*row] == event);
    assert!(of("cnp").all(|row| toward(&row)), "no other queue is beyond Qref");
    // The last ones may be on their way.
    let received: u64 = wholes(&records.flows, "cnps").iter().sum();
    let cnps = of("cnp").count() as u64;
    assert!(cnps > 40 && cnps - received <= 4, "{cnps} and {received}");
    let Some(Values::Text { codes, dictionary }) = signals.column("state") else { panic!("it is text") };
    let states = of("state").filter(toward).map(|row| dictionary[codes[row] as usize].as_str());
    let states: Vec<&str> = states.collect();
    assert!(states.contains(&"congested") && states.windows(2).all(|pair| pair[0] != pair[1]), "{states:?}");
}

#[test]
fn several_cnps_of_a_period_reach_the_sender_where_that_is_asked_for() {
    let one = run(&incast(PACC, ""));
    let many = run(&incast("congestion-point.pacc = { qref = \"100KB\", multi = true }", ""));
    let cnps = |records: &Records| wholes(&records.flows, "cnps").iter().sum::<u64>();
    assert!(cnps(&many) > 2 * cnps(&one), "{} and {}", cnps(&many), cnps(&one));
}

#[test]
fn dcqcn_gets_no_warning_where_the_switch_sends_cnps() {
    assert_eq!(incast(PACC, "").warnings(), [""; 0]);
}

/// Over a long link under Bifrost: hosts of both datacenters send to one, whose switch sends them CNPs.
fn long_incast() -> Scenario {
    let hosts = ["h1", "h3", "h5", "h19", "h21", "h23"];
    let flows = hosts.map(|host| format!("{{ from = \"{host}\", to = \"h17\", size = \"4MB\" }}"));
    let base = text(80, "flow-control = \"bifrost\"\nbuffer = \"static\"\ncongestion-point = []")
        .replace("[defaults]\n", &format!("[defaults]\nrate-control = \"dcqcn\"\n{PACC}\n"));
    scenario(&format!(
        "limit = \"3ms\"\n{base}[[workload]]\nname = \"incast\"\nflows = [{}]\n",
        flows.join(", ")
    ))
}

#[test]
fn it_composes_with_bifrost_on_a_long_link_whatever_the_threads() {
    let scenario = long_incast();
    let one = run(&scenario);
    let workloads = texts(&one.flows, "workload");
    let incast = (0..workloads.len()).filter(|&row| workloads[row] == "incast");
    let cnps: Vec<u64> = incast.map(|row| wholes(&one.flows, "cnps")[row]).collect();
    assert!(cnps.len() == 6 && cnps.iter().filter(|&&cnps| cnps > 0).count() >= 3, "{cnps:?}");
    for threads in [2, 4] {
        let thread_plan = scenario.thread_plan(Threads::Forced(threads), 8);
        assert!(thread_plan.threads() > 1, "{thread_plan:?}");
        assert!(
            format!("{one:?}") == format!("{:?}", run_in(&scenario, &thread_plan)),
            "on {threads} threads"
        );
    }
}

#[test]
fn what_is_wrong_is_named_at_its_line() {
    let refused = |pacc: &str| {
        let text = format!(
            "topology.fat-tree = {{ k = 2, rate = \"100G\", delay = \"1us\" }}\n[defaults]\n{pacc}\n\
             [[workload]]\nname = \"one\"\nflows = [{{ from = \"h1\", to = \"h2\", size = \"1MB\" }}]\n"
        );
        Scenario::from_text("a.toml", &text, &[]).expect_err("it is wrong").to_string()
    };
    let period = refused("congestion-point.pacc = { period = \"1us\" }");
    assert!(period.starts_with("a.toml:3: defaults.congestion-point.pacc.period: "), "{period}");
    assert!(period.contains("1us is not a time from 4us, "), "{period}");
    let typo = refused("congestion-point.pacc = { teta = 0.1 }");
    assert!(typo.contains("did you mean \"theta\"?"), "{typo}");
}
