//! docs/first-credential.md and the guides by role, executed: their commands, and their calls with curl.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::rig::World;

const GUIDE: &str = include_str!("../../../../docs/first-credential.md");
/// The address of the guide's instance.
const ADDRESS: &str = "http://localhost:7380";

/// The guides by role, and a text that each prints.
const ROLES: [(&str, &str); 8] = [
    (
        include_str!("../../../../docs/guides/issuer.md"),
        "is revoked",
    ),
    (
        include_str!("../../../../docs/guides/verifier.md"),
        "order-17",
    ),
    (
        include_str!("../../../../docs/guides/holder.md"),
        "maja@example.org has a wallet",
    ),
    (
        include_str!("../../../../docs/guides/operator.md"),
        "complete and unchanged",
    ),
    (include_str!("../../../../docs/guides/agents.md"), "agents"),
    (
        include_str!("../../../../docs/guides/sign-in.md"),
        "/oidc/sign-in/",
    ),
    (include_str!("../../../../docs/guides/tls.md"), "did:key:"),
    (include_str!("../../../../docs/upgrading.md"), "backups"),
];

/// The blocks of a guide in this language, one after the other.
fn script(guide: &str, language: &str) -> String {
    let (mut script, mut inside) = (String::new(), false);
    for line in guide.lines() {
        match line.strip_prefix("```") {
            Some(named) => inside = !inside && named == language,
            None if inside => writeln!(script, "{line}").unwrap(),
            None => {}
        }
    }
    assert!(script.lines().count() > 1, "{script}");
    script
}

/// What a guide's blocks in this language print, against an instance of their own.
fn run(guide: &str, language: &str) -> String {
    let world = World::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    symlink(world.instance.token_file(), data.join("operator-token")).unwrap();
    let origin = world.instance.origin.as_str().trim_end_matches('/');
    let script = script(guide, language).replace(ADDRESS, origin);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_selfsame"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let ran = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .env("SELFSAME_INSTANCE", format!("{origin}/"))
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout).into_owned();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{printed}{errors}");
    printed
}

#[test]
fn the_guides_commands_lead_to_a_verified_and_then_revoked_credential() {
    let printed = run(GUIDE, "sh");
    let at = |text: &str| {
        let found = printed.find(text);
        found.unwrap_or_else(|| panic!("no {text:?} in {printed}"))
    };
    let order = [
        "rowers  active  Rowing Club Elbe",
        "maja@example.org has a wallet",
        "Membership card  from Rowing Club Elbe",
        "  valid  ",
        "is revoked",
        "  revoked  ",
        "front-desk  POST /api/issuer/offers",
        "complete and unchanged",
    ];
    for pair in order.windows(2) {
        assert!(at(pair[0]) < at(pair[1]), "{pair:?}: {printed}");
    }
}

#[test]
fn the_guides_calls_lead_to_a_verdict_and_a_trail() {
    let printed = run(GUIDE, "bash");
    assert!(printed.contains("answered\n"), "{printed}");
    assert!(printed.contains("complete and unchanged"), "{printed}");
}

#[test]
fn the_commands_of_each_guide_run_as_they_are_written() {
    for (guide, wanted) in ROLES {
        let title = guide.lines().next().unwrap();
        let printed = run(guide, "sh");
        assert!(printed.contains(wanted), "{title}: {wanted:?} in {printed}");
    }
}
