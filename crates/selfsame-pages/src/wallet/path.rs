//! The path to a credential: a picture, and the same in words with links.

use std::fmt::Write as _;

use askama::Template;
use selfsame_wallet_view::path::{PathStep, PathStepState, WalletPath};

use crate::Frame;
use crate::text::escaped;

/// The height of a step in the picture.
const ROW: usize = 72;
/// Maximum number of characters of a title in the picture.
const TITLE_MAX: usize = 22;

/// The path to a credential, or the form that asks for its address.
#[derive(Template)]
#[template(path = "wallet_path.html")]
pub struct PathPage {
    frame: Frame,
    to: String,
    path: Option<String>,
    steps: Vec<ToldStep>,
    wrong: Option<String>,
    picture: String,
}

impl PathPage {
    /// The form alone.
    pub fn empty(frame: Frame) -> Self {
        Self {
            frame: frame.titled("The way to a credential"),
            to: String::new(),
            path: None,
            steps: Vec::new(),
            wrong: None,
            picture: String::new(),
        }
    }

    /// This path.
    pub fn of(frame: Frame, path: WalletPath) -> Self {
        Self {
            frame: frame.titled(&path.title),
            to: path.to.clone(),
            wrong: None,
            picture: picture(&path),
            path: Some(path.title),
            steps: path.steps.into_iter().map(ToldStep::of).collect(),
        }
    }

    /// The form with what is wrong with the address.
    pub fn refused(frame: Frame, to: &str, told: String) -> Self {
        Self {
            frame: frame.failed("The way to a credential"),
            to: to.to_owned(),
            path: None,
            steps: Vec::new(),
            wrong: Some(told),
            picture: String::new(),
        }
    }
}

/// The state of a step in words.
fn word(state: PathStepState) -> &'static str {
    match state {
        PathStepState::Held => "you have it",
        PathStepState::Next => "you can get it now",
        PathStepState::Later => "something before it is missing",
        PathStepState::Never => "it cannot be issued: what it needs leads back to it",
    }
}

/// A step with its state in words.
struct ToldStep {
    step: PathStep,
    word: &'static str,
    /// Where to get it, unless the person has it.
    get_at: Option<String>,
}

impl ToldStep {
    fn of(step: PathStep) -> Self {
        let is_missing = step.state != PathStepState::Held;
        Self {
            word: word(step.state),
            get_at: step.get_at.clone().filter(|_| is_missing),
            step,
        }
    }
}

/// The steps one below the other, each joined with what it needs by a line on its left.
fn picture(path: &WalletPath) -> String {
    let height = path.steps.len().saturating_mul(ROW);
    let mut svg = format!(
        r#"<svg class="ladder" viewBox="0 0 340 {height}" role="img" aria-label="{}">"#,
        escaped(&in_words(path))
    );
    for (place, step) in path.steps.iter().enumerate() {
        for (from, _) in earlier(path, place).filter(|(_, one)| step.needs.contains(&one.title)) {
            let far = place.saturating_sub(from);
            let (from, to) = (middle(from), middle(place));
            let out = 64_usize.saturating_sub(far.saturating_mul(9).min(56));
            let _ = write!(
                svg,
                r#"<path class="ladder-line" d="M72 {from} C{out} {from} {out} {to} 72 {to}"/>"#
            );
        }
    }
    for (place, step) in path.steps.iter().enumerate() {
        draw(&mut svg, place, step);
    }
    svg.push_str("</svg>");
    svg
}

fn draw(svg: &mut String, place: usize, step: &PathStep) {
    let (y, state) = (place.saturating_mul(ROW), step.state.as_str());
    let mark = match step.state {
        PathStepState::Held => "✓",
        PathStepState::Next => "→",
        PathStepState::Later => "…",
        PathStepState::Never => "✗",
    };
    let _ = write!(
        svg,
        r#"<g class="ladder-step is-{state}"><rect x="72" y="{}" width="264" height="56" rx="12"/><text class="ladder-mark" x="96" y="{}" text-anchor="middle">{mark}</text><text class="ladder-title" x="118" y="{}">{}</text><text class="ladder-word" x="118" y="{}">{}</text></g>"#,
        y.saturating_add(8),
        y.saturating_add(42),
        y.saturating_add(33),
        escaped(&cut(&step.title)),
        y.saturating_add(52),
        escaped(&cut(step.issuer.as_deref().unwrap_or_default())),
    );
}

/// The steps before this one.
fn earlier(path: &WalletPath, place: usize) -> impl Iterator<Item = (usize, &PathStep)> {
    path.steps.iter().enumerate().take(place)
}

fn middle(place: usize) -> usize {
    place.saturating_mul(ROW).saturating_add(36)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(TITLE_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
    }
}

fn in_words(path: &WalletPath) -> String {
    let count = |state| path.steps.iter().filter(|step| step.state == state).count();
    format!(
        "{} steps to {}: {} held, {} to get now, {} later",
        path.steps.len(),
        path.title,
        count(PathStepState::Held),
        count(PathStepState::Next),
        count(PathStepState::Later),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(title: &str, state: PathStepState, needs: &[&str]) -> PathStep {
        PathStep {
            title: title.to_owned(),
            issuer: Some("Office".to_owned()),
            get_at: Some(format!("https://office.example/{}", title.len())),
            state,
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        }
    }

    fn path(title: &str) -> WalletPath {
        WalletPath {
            to: "https://office.example/get/permit".to_owned(),
            title: title.to_owned(),
            steps: vec![
                step("Company", PathStepState::Held, &[]),
                step("Letter", PathStepState::Next, &["Company"]),
                step(title, PathStepState::Later, &["Company", "Letter"]),
            ],
        }
    }

    #[test]
    fn each_step_is_joined_with_what_it_needs_and_the_picture_is_told_in_words() {
        let page = PathPage::of(Frame::of_visitor(), path("Permit"))
            .render()
            .unwrap();
        assert_eq!(page.matches("ladder-line").count(), 3, "{page}");
        assert!(
            page.contains("3 steps to Permit: 1 held, 1 to get now, 1 later"),
            "{page}"
        );
        assert!(
            page.contains(r#"href="https://office.example/6""#),
            "{page}"
        );
        assert!(page.contains("you can get it now") && page.contains("you have it"));
        assert!(
            !page.contains(r#"href="https://office.example/7""#),
            "what is held is not got again"
        );
    }

    #[test]
    fn what_issuers_call_things_is_text_in_the_picture_too() {
        let title = "<script>alert(1)</script>\"'&";
        let page = PathPage::of(Frame::of_visitor(), path(title))
            .render()
            .unwrap();
        assert!(!page.contains("<script>alert"), "{page}");
    }

    #[test]
    fn an_address_that_leads_nowhere_is_told_beside_its_field() {
        let told = "no".to_owned();
        let page = PathPage::refused(Frame::of_visitor(), "ftp://a", told)
            .render()
            .unwrap();
        assert!(
            page.contains(r#"role="alert""#) && page.contains(r#"value="ftp://a""#),
            "{page}"
        );
    }
}
