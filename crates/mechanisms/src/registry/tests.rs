use super::*;
use crate::{pfc, static_buffer};

fn read<T: for<'de> serde::Deserialize<'de>>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn a_bare_name_means_all_defaults() {
    let pfc = FlowControlParams::Pfc(pfc::Params::default());
    assert_eq!(read(r#""pfc""#), Ok(pfc.clone()));
    assert_eq!(read(r#"{ "pfc": {} }"#), Ok(pfc));
    assert_eq!(read(r#""static""#), Ok(BufferParams::Static(static_buffer::Params::default())));
}

/// What the list itself says: `Pfc => pfc` in `flow_controls!` is the name "pfc".
fn listed(list: &str) -> Vec<String> {
    let lines = include_str!("../registry.rs").lines();
    let lines =
        lines.skip_while(|line| *line != format!("{list}! {{")).skip(1).take_while(|line| *line != "}");
    let variants = lines.map(|line| line.trim().split_once(" => ").expect("a line has an arrow").0);
    variants.map(kebab).collect()
}

fn kebab(variant: &str) -> String {
    let mut name = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[test]
fn names_are_those_of_the_list_in_kebab_case() {
    for (list, names) in [
        ("flow_controls", FlowControlParams::names()),
        ("link_retries", LinkRetryParams::names()),
        ("buffers", BufferParams::names()),
        ("routings", RoutingParams::names()),
        ("schedulers", SchedulerParams::names()),
        ("congestion_points", CongestionPointParams::names()),
        ("notifications", NotificationParams::names()),
        ("reactions", ReactionParams::names()),
        ("reliabilities", ReliabilityParams::names()),
    ] {
        assert_eq!(names, listed(list));
    }
    assert_eq!(kebab("DeficitRoundRobin"), "deficit-round-robin");
    let reliability: ReliabilityParams = read(r#"{ "go-back-n": { "timeout": "off" } }"#).unwrap();
    assert_eq!(reliability.name(), "go-back-n");
}

/// There is one of these machines for each queue pair, or each port and class, of a run: what the largest
/// needs, all take.
#[test]
fn machines_stay_small() {
    let budgets = [
        ("reaction point", 144, AnyReactionPoint::sizes()),
        ("notification point", 32, AnyNotificationPoint::sizes()),
        ("transport sender", 152, AnyTransportSender::sizes()),
        ("transport receiver", 48, AnyTransportReceiver::sizes()),
        ("flow control sender", 80, AnyFcSender::sizes()),
        ("flow control receiver", 112, AnyFcReceiver::sizes()),
        ("link retry sender", 120, AnyRetrySender::sizes()),
        ("link retry receiver", 64, AnyRetryReceiver::sizes()),
        ("admission", 48, AnyAdmission::sizes()),
        ("scheduler", 112, AnyScheduler::sizes()),
        ("congestion point", 208, AnyCongestionPoint::sizes()),
        ("router", 80, AnyRouter::sizes()),
    ];
    let mut over = Vec::new();
    for (machine, limit, sizes) in budgets {
        for (name, size) in sizes.into_iter().filter(|(_, size)| *size > limit) {
            over.push(format!(
                "the {machine} of {name} takes {size} bytes, and each has room for {limit}: put what is seldom used, or of one \
                 form only, into a Box"
            ));
        }
    }
    assert!(over.is_empty(), "{}", over.join("\n"));
}

#[test]
fn parameters_survive_a_round_trip() {
    for json in [
        r#"{"pfc":{"xoff":{"alpha":0.25},"resume-offset":"0B","headroom":"30KB","pause":"on-off","quanta":100,
            "refresh":0.4,"react":"1us","trigger":"headroom","watchdog":{"after":"1ms","action":"forward"}}}"#,
        r#""lossy""#,
        r#"{"bifrost":{"slot":"5us","level":"42MB","f-mode":"measured","leak-period":4,"half-mtu":true,
            "react":"100ns","pause":"timer"}}"#,
    ] {
        let choice: FlowControlParams = read(json).unwrap();
        assert_eq!(read(&serde_json::to_string(&choice).unwrap()), Ok(choice));
    }
}

#[test]
fn an_unknown_name_is_refused_with_those_allowed() {
    let all =
        FlowControlParams::names().iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let expected = format!("unknown variant `pcf`, expected one of {all}");
    assert!(read::<FlowControlParams>(r#""pcf""#).unwrap_err().contains(&expected));
    assert!(read::<FlowControlParams>(r#"{ "pcf": {} }"#).unwrap_err().contains(&expected));
}

#[test]
fn exactly_one_is_chosen() {
    let two = read::<FlowControlParams>(r#"{ "pfc": {}, "lossy": {} }"#).unwrap_err();
    let all = FlowControlParams::names().join(", ");
    let expected = format!("two are chosen, \"lossy\" and another: replace the whole value by one of {all}");
    assert!(two.contains(&expected), "{two}");
    let none = read::<FlowControlParams>("{}").unwrap_err();
    assert!(none.contains(&format!("nothing is chosen: name one of {all}")), "{none}");
    let number = read::<FlowControlParams>("3").unwrap_err();
    assert!(number.contains(&format!("expected a name or a table with one name of: {all}")), "{number}");
}

#[test]
fn an_error_has_the_line_of_a_scenario() {
    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Link {
        #[allow(dead_code, reason = "only the error is looked at")]
        flow_control: FlowControlParams,
    }
    let at = |text: &str| {
        let error = toml::from_str::<Link>(text).unwrap_err();
        text[error.span().expect("errors have a place")].to_owned()
    };
    assert_eq!(at("flow-control.pcf = {}"), "pcf");
    assert_eq!(at("flow-control = 'pcf'"), "'pcf'");
    assert_eq!(at("flow-control.pfc = { quanta = 1, xof = 'auto' }"), "xof");
    assert_eq!(at("flow-control.pfc = { xoff = '320' }"), "'320'");
    assert_eq!(at("flow-control.pfc.xoff = { fixed = '1KB', alpha = 'x' }"), "'x'");
}

#[test]
fn the_schema_offers_each_name_bare_and_with_parameters() {
    let schema = serde_json::to_value(schemars::schema_for!(FlowControlParams)).unwrap();
    assert_eq!(schema["anyOf"][0]["enum"], serde_json::json!(FlowControlParams::names()));
    assert_eq!(schema["anyOf"][2]["properties"]["pfc"]["$ref"], "#/$defs/Pfc");
    assert_eq!(schema["$defs"]["Pfc"]["properties"]["quanta"]["default"], 65_535);
}

#[test]
fn external_machines_plug_in() {
    struct Half;
    impl crate::slots::ReactionPoint for Half {
        fn allowance(&self) -> crate::slots::Allowance {
            crate::slots::Allowance { window: floodway_units::Bytes(7), ..crate::slots::Allowance::FREE }
        }
    }
    let custom = AnyReactionPoint::Custom(Box::new(Half));
    assert_eq!(crate::slots::ReactionPoint::allowance(&custom).window, floodway_units::Bytes(7));
    assert_eq!(format!("{custom:?}"), "Custom(..)");
}

mod documentation;
