//! A rate control from outside the tree that says which notification its receivers have.
//!
//! A program of its own: it adds to the registry, of which other tests try every mechanism.
#![allow(missing_docs, reason = "tests")]

use floodway_mechanisms::registry::{NotificationParams, ReactionParams};
use floodway_mechanisms::slots::{
    Allowance, Cnp, Cx, Need, Notification, NotificationPoint, PacketView, ParamError, QpInfo, Reaction,
    ReactionPoint,
};
use floodway_scenario::Scenario;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const SOURCE: &str = "//! A pair of test mechanisms.\n";

/// Sends at line rate, and asks for its own notification.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Params {}

impl Reaction for Params {
    type Rp = Params;

    fn build(&self, _qp: &QpInfo) -> Result<Params, ParamError> {
        Ok(Params {})
    }

    fn needs(&self) -> &'static [Need] {
        &[Need::Messages]
    }

    fn notification(&self) -> Option<&'static str> {
        Some("own-np")
    }
}

impl ReactionPoint for Params {
    fn has_messages(&self) -> bool {
        true
    }

    fn allowance(&self) -> Allowance {
        Allowance::FREE
    }
}

/// Its receivers' half, which answers nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Np {}

impl Notification for Np {
    type Np = Np;

    fn build(&self, _qp: &QpInfo) -> Result<Np, ParamError> {
        Ok(Np {})
    }
}

impl NotificationPoint for Np {
    fn on_data(&mut self, _cx: &mut Cx<'_, Cnp>, _p: &PacketView) {}
}

fn scenario(notification: &str) -> Result<Scenario, String> {
    let text = format!(
        "topology.single-switch = {{ hosts = 2, rate = \"100G\", delay = \"1us\" }}\n\
         defaults.rate-control = \"own-asking\"\n{notification}\
         workload = [{{ name = \"w\", flows = [{{ from = \"h1\", to = \"h2\", size = \"1KB\" }}] }}]\n"
    );
    Scenario::from_text("a.toml", &text, &[]).map_err(|errors| errors.to_string())
}

#[test]
fn receivers_have_the_notification_that_the_rate_control_names_if_there_is_one() {
    ReactionParams::register::<Params>("own-asking", SOURCE).unwrap();
    let Err(error) = scenario("") else { panic!("there is no such notification yet") };
    assert_eq!(
        error,
        "a.toml:2: defaults.rate-control: \"own-asking\" requires notification \"own-np\" at receivers, which does not exist"
    );
    NotificationParams::register::<Np>("own-np", SOURCE).unwrap();
    let asked = scenario("").unwrap();
    assert_eq!(asked.blueprint().settings[0].notification.name(), "own-np");
    let chosen = scenario("defaults.notification = \"none\"\n").unwrap();
    assert_eq!(chosen.blueprint().settings[0].notification.name(), "none");
}
