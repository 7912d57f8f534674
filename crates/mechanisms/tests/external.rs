//! Mechanisms that a program adds to the registry's own.
#![allow(missing_docs, reason = "tests")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use floodway_mechanisms::registry::{
    CustomReaction, FlowControlParams, NotificationParams, ReactionParams, custom, entries,
};
use floodway_mechanisms::slots::{
    self, Allowance, Cx, FcFrame, FcReceiver, FcSender, Gate, IngressView, LinkInfo, ParamError, QpInfo,
    ReactionPoint as _,
};
use floodway_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

fn read<T: for<'de> Deserialize<'de>>(json: &str) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

/// Makes types of parameters that keep so many packets in flight: one for each test, as a mechanism has its
/// own.
macro_rules! few {
    ($($name:ident)*) => {$(
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        struct $name {
            /// Packets in flight, at least 1.
            most_packets: u64,
            share: f64,
        }

        impl Default for $name {
            fn default() -> Self {
                $name { most_packets: 7, share: 1.0 }
            }
        }

        impl slots::Reaction for $name {
            type Rp = FewRp;

            fn build(&self, qp: &QpInfo) -> Result<FewRp, ParamError> {
                match self.most_packets {
                    0 => Err(ParamError::new("most-packets", "0 is not allowed; the minimum is 1")),
                    packets => Ok(FewRp(Bytes(packets * qp.mtu.0))),
                }
            }

            fn has_steps(&self) -> bool {
                true
            }
        }
    )*};
}

few! { FewChosen FewDescribed FewRefused FewOnce FewTaken FewAnew FewAlone }

struct FewRp(Bytes);

impl slots::ReactionPoint for FewRp {
    fn allowance(&self) -> Allowance {
        Allowance { window: self.0, ..Allowance::FREE }
    }
}

const SOURCE: &str = "//! Few packets in flight.\n//!\n//! # What it does\n//!\n//! Little.\n\nuse x;\n";

fn added<P>(name: &str) -> Result<(), custom::RegistryError>
where
    P: CustomReaction + DeserializeOwned + JsonSchema + 'static,
{
    ReactionParams::register::<P>(name, SOURCE)
}

#[test]
fn an_external_mechanism_is_chosen_like_any_other() {
    added::<FewChosen>("few-chosen").unwrap();
    let bare: ReactionParams = read(r#""few-chosen""#).unwrap();
    let given: ReactionParams = read(r#"{ "few-chosen": { "most-packets": 3 } }"#).unwrap();
    assert_eq!((bare.name(), given.name()), ("few-chosen", "few-chosen"));
    assert_ne!(bare, given);
    assert_eq!(given, given.clone());
    let window = |params: &ReactionParams| params.build(&QpInfo::example()).unwrap().allowance().window;
    assert_eq!((window(&bare), window(&given)), (Bytes(7_000), Bytes(3_000)));
    assert!(given.has_steps() && !given.reacts_to_cnp());
    let text = serde_json::to_string(&given).unwrap();
    assert_eq!(text, r#"{"few-chosen":{"most-packets":3,"share":1.0}}"#);
    assert_eq!(read::<ReactionParams>(&text), Ok(given));
    assert!(ReactionParams::names().contains(&"few-chosen"));
}

#[test]
fn its_page_and_parameters_are_described() {
    added::<FewDescribed>("few-described").unwrap();
    let entry = entries().into_iter().find(|entry| entry.name == "few-described").unwrap();
    assert_eq!((entry.slot, &*entry.definition), ("rate-control", "FewDescribed"));
    assert!(entry.head.starts_with("Few packets in flight.\n\n# What it does"));
    let schema = serde_json::to_value(schemars::schema_for!(ReactionParams)).unwrap();
    assert!(schema["anyOf"][0]["enum"].as_array().unwrap().contains(&json!("few-described")));
    let forms = schema["anyOf"].as_array().unwrap();
    assert!(forms.iter().any(|form| form["properties"]["few-described"]["$ref"] == "#/$defs/FewDescribed"));
    assert_eq!(schema["$defs"]["FewDescribed"]["properties"]["most-packets"]["default"], 7);
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Flows {
    #[allow(dead_code, reason = "only the error is looked at")]
    rate_control: ReactionParams,
}

#[test]
fn what_does_not_fit_is_refused_with_its_key() {
    added::<FewRefused>("few-refused").unwrap();
    let refused = |text: &str| {
        let error = toml::from_str::<Flows>(text).unwrap_err();
        (text[error.span().expect("errors have a place")].to_owned(), error.message().to_owned())
    };
    let (at, message) = refused("rate-control.few-refused = { most-packet = 3 }");
    assert_eq!(message, "unknown field `most-packet`, expected `most-packets` or `share`");
    assert!(at.contains("most-packet"), "{at}");
    let (_, message) = refused("rate-control.few-refused = { most-packets = 'x' }");
    assert_eq!(message, r#"most-packets: invalid type: string "x", expected u64"#);
    let (_, message) = refused("rate-control.few-refuse = {}");
    assert!(
        message.starts_with("unknown variant `few-refuse`, expected one of")
            && message.contains("few-refused")
    );
    let zero: ReactionParams = read(r#"{ "few-refused": { "most-packets": 0 } }"#).unwrap();
    assert_eq!(zero.build(&QpInfo::example()).map(|_| ()).unwrap_err().key, "most-packets");
}

#[test]
fn a_name_is_given_once() {
    added::<FewOnce>("few-once").unwrap();
    let again = added::<FewOnce>("few-once").unwrap_err().to_string();
    assert_eq!(again, "rate-control: there is a mechanism \"few-once\" already; choose another name");
    assert!(added::<FewTaken>("dcqcn").unwrap_err().to_string().contains("already"));
    for name in ["", "Few", "few_once", "few--once", "-few", "2few", "few-"] {
        let refused = added::<FewTaken>(name).unwrap_err().to_string();
        assert!(refused.contains("is not a name; allowed: lower-case letters"), "{name}: {refused}");
    }
    let page = || custom::Page::of::<FewAnew>(SOURCE);
    let anew = || {
        let read =
            |values| custom::read::<FewAnew>(values).map(|few| Box::new(few) as Box<dyn CustomReaction>);
        ReactionParams::register_as("few-anew", true, page(), Box::new(read))
    };
    anew().unwrap();
    let kept: ReactionParams = read(r#""few-anew""#).unwrap();
    anew().unwrap();
    assert_eq!(kept.name(), "few-anew");
    assert_eq!(ReactionParams::names().iter().filter(|name| **name == "few-anew").count(), 1);
    assert!(added::<FewAnew>("few-anew").is_err(), "what may be given anew is not taken by another kind");
}

#[test]
fn parameters_are_those_of_one_mechanism() {
    added::<FewAlone>("few-alone").unwrap();
    let refused = added::<FewAlone>("few-beside").unwrap_err().to_string();
    assert_eq!(
        refused,
        "rate-control \"few-beside\": its parameters are called \"FewAlone\" in the schema of scenarios, as those of rate-control \
         \"few-alone\" are; each mechanism has a type of parameters of its own, with a name of its own, \
         #[schemars(rename = \"...\")]"
    );
    assert!(!ReactionParams::names().contains(&"few-beside"));
    let refused = NotificationParams::register::<Named>("another-red", SOURCE).unwrap_err().to_string();
    assert!(refused.contains("as those of congestion-point \"red\" are"), "{refused}");
}

/// Parameters that are named as those of `red`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "Red")]
struct Named {}

impl slots::Notification for Named {
    type Np = Answers;

    fn build(&self, _qp: &QpInfo) -> Result<Answers, ParamError> {
        Ok(Answers {})
    }
}

/// A flow control of two machines.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Never {}

struct Half;

impl FcSender for Half {
    fn on_frame(&mut self, _cx: &mut Cx<'_, FcFrame>, _frame: FcFrame) {}

    fn gate(&self, _now: Time, _next: Bytes) -> Gate {
        Gate::Open
    }
}

impl FcReceiver for Half {
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn on_release(&mut self, _cx: &mut Cx<'_, FcFrame>, _q: &IngressView) {}

    fn level(&self) -> Option<Bytes> {
        Some(Bytes(3))
    }
}

impl slots::FlowControl for Never {
    type Sender = Half;
    type Receiver = Half;

    fn build(&self, _link: &LinkInfo) -> Result<(Half, Half), ParamError> {
        Ok((Half, Half))
    }

    fn min_buffer(&self, link: &LinkInfo) -> Bytes {
        link.mtu
    }

    fn min_buffer_formula(&self) -> &'static str {
        "MTU"
    }
}

#[test]
fn both_halves_of_a_flow_control_are_external() {
    FlowControlParams::register::<Never>("never-pauses", SOURCE).unwrap();
    let choice: FlowControlParams = read(r#""never-pauses""#).unwrap();
    let link = LinkInfo::example();
    let (sender, receiver) = choice.build(&link).unwrap();
    assert_eq!(sender.gate(Time::ZERO, Bytes(1)), Gate::Open);
    assert_eq!(receiver.level(), Some(Bytes(3)));
    assert_eq!((choice.min_buffer(&link), choice.min_buffer_formula()), (Bytes(1500), "MTU"));
}

/// A rate control whose receivers have a notification of their own.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Asks {}

impl slots::Reaction for Asks {
    type Rp = FewRp;

    fn build(&self, _qp: &QpInfo) -> Result<FewRp, ParamError> {
        Ok(FewRp(Bytes(1)))
    }

    fn notification(&self) -> Option<&'static str> {
        Some("answers-elsewhere")
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Answers {}

impl slots::Notification for Answers {
    type Np = Answers;

    fn build(&self, _qp: &QpInfo) -> Result<Answers, ParamError> {
        Ok(Answers {})
    }
}

impl slots::NotificationPoint for Answers {
    fn on_data(&mut self, _cx: &mut Cx<'_, slots::Cnp>, _p: &slots::PacketView) {}
}

#[test]
fn receivers_have_the_notification_that_an_external_rate_control_names() {
    ReactionParams::register::<Asks>("asks-elsewhere", SOURCE).unwrap();
    let stack: [ReactionParams; 2] = [read(r#""line-rate""#).unwrap(), read(r#""asks-elsewhere""#).unwrap()];
    assert_eq!(NotificationParams::asked_by(&stack).name(), "none");
    NotificationParams::register::<Answers>("answers-elsewhere", SOURCE).unwrap();
    assert_eq!(NotificationParams::asked_by(&stack).name(), "answers-elsewhere");
    assert_eq!(NotificationParams::asked_by(&[read(r#""dcqcn""#).unwrap()]).name(), "dcqcn");
}
