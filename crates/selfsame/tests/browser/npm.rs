//! The pages of a sign-in checked by axe-core, which `cargo xtask test` installs, by the rules of WCAG 2.2, A and AA.

use std::path::PathBuf;

use serde_json::json;

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    sign_in_pages::InventedPage,
};

/// The environment variable with the folder of the package.
const FOLDER: &str = "SELFSAME_AXE";
const RULES: [&str; 6] = [
    "wcag2a",
    "wcag2aa",
    "wcag21a",
    "wcag21aa",
    "wcag22aa",
    "best-practice",
];

/// The script of the checks.
#[expect(
    clippy::disallowed_methods,
    reason = "the run of the tests names the folder"
)]
fn axe() -> String {
    let folder = std::env::var_os(FOLDER).expect("the folder of axe-core: cargo xtask test axe");
    let file = PathBuf::from(folder).join("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[tokio::test]
#[ignore = "needs Chromium and axe-core: `cargo xtask test` runs it"]
async fn no_page_of_a_sign_in_has_a_fault_that_axe_finds() {
    let (axe, rules) = (axe(), json!(RULES));
    let script = format!(
        "{axe}; const found = await axe.run(document, {{runOnly: {rules}}});
        return found.violations.map(one => `${{one.id}}: ${{one.nodes.map(node => node.html).join(' ')}}`)"
    );
    let instance = Instance::start().await;
    let mut faults = Vec::new();
    for scheme in [Scheme::Light, Scheme::Dark] {
        let browser = Browser::start(scheme).await;
        browser.resize(360, 740).await;
        for page in InventedPage::all(&browser, &instance).await {
            page.show(&browser).await;
            let found = browser.evaluate(&script).await;
            if found != json!([]) {
                faults.push(format!("{} {scheme:?}: {found}", page.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
