//! A content as a response, with the frame around it.

use axum::response::{Html, IntoResponse as _, Redirect};
use selfsame_agent_pages::{Template, render};
use selfsame_http::error::Handled;
use selfsame_pages::Frame;
use selfsame_pages::content::{Content, ContentPage};

/// A page.
pub fn page(frame: Frame, title: &str, content: &impl Template) -> Handled {
    let (title, is_failed) = (title.to_owned(), false);
    let main = render(content)?;
    let content = Content {
        title,
        is_failed,
        main,
    };
    html(frame, content)
}

/// A page that is shown again, because what was sent is refused.
pub fn again(frame: Frame, title: &str, content: &impl Template) -> Handled {
    let (title, is_failed) = (title.to_owned(), true);
    let main = render(content)?;
    let content = Content {
        title,
        is_failed,
        main,
    };
    html(frame, content)
}

fn html(frame: Frame, content: Content) -> Handled {
    let page = ContentPage::of(frame, content);
    Ok(Html(selfsame_pages::render(&page)?).into_response())
}

/// Leads on to a page of the agent.
pub fn led(path: &str) -> Handled {
    Ok(Redirect::to(path).into_response())
}

/// The text of an optional field.
pub fn optional(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}
