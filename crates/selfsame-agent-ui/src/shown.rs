//! A content as a response, with the frame around it.

use axum::response::{Html, IntoResponse as _, Redirect};
use selfsame_agent_pages::{Template, render};
use selfsame_http::error::{Handled, Problem};
use selfsame_pages::Frame;
use selfsame_pages::content::{Content, ContentPage};

/// A page.
pub fn page(frame: Frame, title: &str, content: &impl Template) -> Handled {
    framed(frame, title, content, false)
}

/// A page that is shown again, because what was sent is refused.
pub fn again(frame: Frame, title: &str, content: &impl Template) -> Handled {
    framed(frame, title, content, true)
}

/// The same, with the status of a request that is refused.
pub fn refused(frame: Frame, title: &str, content: &impl Template) -> Handled {
    let mut page = again(frame, title, content)?;
    *page.status_mut() = Problem::bad_request("form-malformed").status();
    Ok(page)
}

fn framed(frame: Frame, title: &str, content: &impl Template, is_failed: bool) -> Handled {
    let content = Content {
        title: title.to_owned(),
        is_failed,
        main: render(content)?,
    };
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
