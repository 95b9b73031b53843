//! Every page of a sign-in with invented data, in every language: on a phone and on a desk, in light and in the dark.

use selfsame_sign_in_pages::{PageFiles, PageLanguage, samples};
use serde_json::json;

use crate::{
    browser::{Browser, Scheme},
    instance::Instance,
    pages::{DEVICES, seen},
};

/// A page with its name.
pub struct InventedPage {
    pub name: String,
    html: String,
}

impl InventedPage {
    /// Every page in every language. The browser has a page of the instance from then on, whose files these load.
    pub async fn all(browser: &Browser, instance: &Instance) -> Vec<Self> {
        browser.open(&instance.origin).await;
        let file = async |selector: &str, name: &str| {
            browser.attribute(selector, name).await.unwrap_or_default()
        };
        let files = PageFiles {
            style: file("link[rel=stylesheet]", "href").await,
            colours: None,
            script: file("script[src]", "src").await,
            icon: file("link[rel=icon]", "href").await,
        };
        let languages = PageLanguage::all().iter();
        let pages = languages.flat_map(|language| {
            let pages = samples::all(language, &files).into_iter();
            pages.map(|page| Self {
                name: format!("{}-{}", page.name, language.tag()),
                html: page.html,
            })
        });
        pages.collect()
    }

    /// Shows it in place of the page that the browser has.
    pub async fn show(&self, browser: &Browser) {
        let html = json!(self.html);
        let script = format!(
            "document.open(); document.write({html}); document.close();
            const links = [...document.querySelectorAll('link[rel=stylesheet]')];
            await Promise.all(links.map(link => link.sheet || new Promise(done => link.onload = done)));
            return null"
        );
        browser.evaluate(&script).await;
    }
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn every_page_of_a_sign_in_fits_a_phone_and_a_desk_in_every_language() {
    let instance = Instance::start().await;
    let mut faults = Vec::new();
    for scheme in [Scheme::Light, Scheme::Dark] {
        let browser = Browser::start(scheme).await;
        let pages = InventedPage::all(&browser, &instance).await;
        assert!(pages.len() > 80, "only {} pages", pages.len());
        for (device, size) in DEVICES {
            browser.resize(size.0, size.1).await;
            for page in &pages {
                page.show(&browser).await;
                let name = format!("{}-{device}-{scheme:?}", page.name);
                faults.extend(seen(&browser, &name).await);
            }
        }
        browser.expect_no_errors().await;
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
