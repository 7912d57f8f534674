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

#[test]
fn names_are_those_of_scenarios() {
    assert_eq!(FlowControlParams::names(), ["lossy", "pfc", "bifrost", "cbfc", "swing"]);
    assert_eq!(BufferParams::names(), ["static", "shared", "ioq"]);
    assert_eq!(RoutingParams::names(), ["ecmp", "spray", "sar"]);
    assert_eq!(SchedulerParams::names(), ["strict", "round-robin", "deficit-round-robin"]);
    assert_eq!(NotificationParams::names(), ["none", "dcqcn", "tcd"]);
    assert_eq!(
        ReactionParams::names(),
        ["line-rate", "static-window", "dcqcn", "timely", "hpcc", "dctcp", "mercury"]
    );
    assert_eq!(ReliabilityParams::names(), ["none", "go-back-n", "irn"]);
    assert_eq!(CongestionPointParams::names(), ["red", "proxy-cnp", "mercury", "tcd", "pacc", "rcm", "casl"]);
    let reliability: ReliabilityParams = read(r#"{ "go-back-n": { "timeout": "off" } }"#).unwrap();
    assert_eq!(reliability.name(), "go-back-n");
}

#[test]
fn parameters_survive_a_round_trip() {
    for json in [
        r#"{"pfc":{"xoff":{"alpha":0.25},"resume-offset":"0B","headroom":"30KB","pause":"on-off","quanta":100,
            "refresh":0.4,"react":"1us","trigger":"headroom","watchdog":{"after":"1ms","action":"ignore"}}}"#,
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
    let expected = "unknown variant `pcf`, expected one of `lossy`, `pfc`, `bifrost`, `cbfc`, `swing`";
    assert!(read::<FlowControlParams>(r#""pcf""#).unwrap_err().contains(expected));
    assert!(read::<FlowControlParams>(r#"{ "pcf": {} }"#).unwrap_err().contains(expected));
}

#[test]
fn exactly_one_is_chosen() {
    let two = read::<FlowControlParams>(r#"{ "pfc": {}, "lossy": {} }"#).unwrap_err();
    let expected = "two are chosen, since \"lossy\" stands beside another: write the whole choice anew, with one of \
                    lossy, pfc, bifrost, cbfc, swing";
    assert!(two.contains(expected), "{two}");
    let none = read::<FlowControlParams>("{}").unwrap_err();
    assert!(none.contains("nothing is chosen: name one of lossy, pfc, bifrost, cbfc, swing"), "{none}");
    let number = read::<FlowControlParams>("3").unwrap_err();
    assert!(
        number.contains("expected a name or a table with one name of: lossy, pfc, bifrost, cbfc, swing"),
        "{number}"
    );
}

#[test]
fn an_error_points_at_the_place_in_a_scenario() {
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
    assert_eq!(schema["anyOf"][0]["enum"], serde_json::json!(["lossy", "pfc", "bifrost", "cbfc", "swing"]));
    assert_eq!(schema["anyOf"][2]["properties"]["pfc"]["$ref"], "#/$defs/Pfc");
    assert_eq!(schema["$defs"]["Pfc"]["properties"]["quanta"]["default"], 65_535);
}

#[test]
fn machines_from_elsewhere_plug_in() {
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
