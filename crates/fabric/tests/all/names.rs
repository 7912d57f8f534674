//! The fabric knows slots, not mechanisms: none of their names appears in its code.

use std::path::{Path, PathBuf};

use floodway_mechanisms::registry::{
    BufferParams, CongestionPointParams, FlowControlParams, LinkRetryParams, NotificationParams,
    ReactionParams, ReliabilityParams, RoutingParams, SchedulerParams,
};

/// The registry's names, as scenarios spell them; `none` is also a word of the language.
fn mechanisms() -> Vec<&'static str> {
    let all = [
        FlowControlParams::names(),
        LinkRetryParams::names(),
        BufferParams::names(),
        RoutingParams::names(),
        SchedulerParams::names(),
        CongestionPointParams::names(),
        NotificationParams::names(),
        ReactionParams::names(),
        ReliabilityParams::names(),
    ];
    all.concat().into_iter().filter(|&name| name != "none").collect()
}

/// What a name looks like in code: a string, a module's path, a variant of an enum of the registry.
fn traces(name: &str) -> Vec<String> {
    let module = name.replace('-', "_");
    let variant: String = name.split('-').map(capital).collect();
    let enums = [
        "Params",
        "FcSender",
        "FcReceiver",
        "RetrySender",
        "RetryReceiver",
        "Admission",
        "Router",
        "Scheduler",
        "CongestionPoint",
        "NotificationPoint",
        "ReactionPoint",
        "TransportSender",
        "TransportReceiver",
    ];
    let modules = ["::", "as "].map(|before| format!("mechanisms{before}{module}"));
    let imported = [format!("{module}::Params"), format!("{module}::{{"), format!("{{{module}")];
    std::iter::once(format!("\"{name}\""))
        .chain(modules)
        .chain(imported)
        .chain(enums.iter().map(|of| format!("{of}::{variant}")))
        .collect()
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Lines of code: neither comments nor the tests at a file's end.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let body = text.split("#[cfg(test)]").next().unwrap_or_default();
    body.lines().map(str::trim).filter(|line| !line.starts_with("//"))
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Modules that the crate has for its tests only.
fn of_tests(source: &Path) -> Vec<PathBuf> {
    let root = std::fs::read_to_string(source.join("lib.rs")).unwrap();
    let marked = root.split("#[cfg(test)]\nmod ").skip(1);
    marked.map(|rest| source.join(format!("{}.rs", rest.split(';').next().unwrap()))).collect()
}

#[test]
fn no_mechanism_is_named_in_the_fabrics_code() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let left_out = of_tests(&source);
    let mut seen = 0;
    for path in files(&source).into_iter().filter(|path| !left_out.contains(path)) {
        let text = std::fs::read_to_string(&path).unwrap();
        seen += code(&text).count();
        for name in mechanisms() {
            for trace in traces(name) {
                let line = code(&text).find(|line| line.contains(&trace));
                assert_eq!(line, None, "{} names {name}", path.display());
            }
        }
    }
    assert!(seen > 2_000, "{seen} lines were read");
}

#[test]
fn a_name_in_code_would_be_noticed() {
    let found =
        |line: &str| mechanisms().iter().flat_map(|name| traces(name)).any(|trace| line.contains(&trace));
    assert!(found("use floodway_mechanisms::pfc;"));
    assert!(found("FlowControlParams::Pfc(params) => 1,"));
    assert!(found("AnyTransportSender::GoBackN(_) => 2,"));
    assert!(found(r#"if name == "go-back-n" {"#));
    assert!(!found("pfc_tx: counters.pfc_tx,"));
    assert_eq!(
        code("/// pfc::Params\nlet x = 1;\n#[cfg(test)]\nmod tests;").collect::<Vec<_>>(),
        ["let x = 1;"]
    );
}
