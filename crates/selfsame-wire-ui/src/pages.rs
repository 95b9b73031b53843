//! The pages: the switch, the flows of a kind, and one flow drawn message by message.

use axum::response::{Html, IntoResponse as _, Redirect};
use selfsame_agent_pages::wire::{FlowContent, FlowsContent, SwitchContent};
use selfsame_agent_pages::{PageBase, Template};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_http::correction::refused;
use selfsame_http::error::Handled;
use selfsame_http::extract::{Form, Path, Query};
use selfsame_http::listing::ListPosition;
use selfsame_pages::Frame;
use selfsame_pages::content::{Content, ContentPage};
use selfsame_wire::FlowKind::{self, Issuance, Presentation, SignIn, Wallet};

use crate::here::WireHere;

/// Whether flows are recorded, and the form that switches it.
pub async fn switch(here: WireHere, frame: Frame) -> Handled {
    let content = SwitchContent {
        base: base(&frame),
        switch: here.wires.switch(&here.switch).await?,
        has_issuer: frame.roles.issuer,
        has_verifier: frame.roles.verifier,
    };
    framed(frame, "What happened on the wire", &content)
}

/// Switches recording on or off.
pub async fn set(here: WireHere, frame: Frame, form: Form) -> Handled {
    let is_on = form.one("on") == Some("yes");
    here.wires.set(&here.switch, is_on).await?;
    Ok(Redirect::to(&format!("{}/wire", frame.here)).into_response())
}

/// Erases all that was recorded.
pub async fn erase_all(here: WireHere, frame: Frame) -> Handled {
    here.wires.erase_all(&here.tenant).await?;
    Ok(Redirect::to(&format!("{}/wire", frame.here)).into_response())
}

/// The recorded issuances.
pub async fn issuances(here: WireHere, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    list(&here, frame, Issuance, &at.into()).await
}

/// One recorded issuance.
pub async fn issuance(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    flow(&here, frame, Issuance, &id).await
}

/// The recorded issuance of an offer.
pub async fn of_offer(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    of(&here, frame, Issuance, &id).await
}

/// Erases an issuance.
pub async fn erase_issuance(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    erase(&here, &frame, Issuance, &id).await
}

/// The recorded presentations.
pub async fn presentations(
    here: WireHere,
    frame: Frame,
    Query(at): Query<ListPosition>,
) -> Handled {
    list(&here, frame, Presentation, &at.into()).await
}

/// One recorded presentation.
pub async fn presentation(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    flow(&here, frame, Presentation, &id).await
}

/// The recorded presentation for a request.
pub async fn of_request(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    of(&here, frame, Presentation, &id).await
}

/// Erases a presentation.
pub async fn erase_presentation(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    erase(&here, &frame, Presentation, &id).await
}

/// The recorded sign-ins.
pub async fn sign_ins(here: WireHere, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    list(&here, frame, SignIn, &at.into()).await
}

/// One recorded sign-in.
pub async fn sign_in(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    flow(&here, frame, SignIn, &id).await
}

/// Erases a sign-in.
pub async fn erase_sign_in(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    erase(&here, &frame, SignIn, &id).await
}

/// What a person's wallet did.
pub async fn own(here: WireHere, frame: Frame, Query(at): Query<ListPosition>) -> Handled {
    list(&here, frame, Wallet, &at.into()).await
}

/// One flow of a person's wallet.
pub async fn own_flow(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    flow(&here, frame, Wallet, &id).await
}

/// Erases a flow of a person's wallet.
pub async fn erase_own(here: WireHere, frame: Frame, Path(id): Path<String>) -> Handled {
    erase(&here, &frame, Wallet, &id).await
}

async fn list(here: &WireHere, frame: Frame, kind: FlowKind, at: &Paging) -> Handled {
    let content = listed(here, &frame, kind, at).await?;
    framed(frame, content.title(), &content)
}

async fn listed(
    here: &WireHere,
    frame: &Frame,
    kind: FlowKind,
    at: &Paging,
) -> Handled<FlowsContent> {
    let found = here.wires.list(&here.tenant, kind, at).await?;
    Ok(FlowsContent {
        base: base(frame),
        kind,
        lacks_wanted: false,
        is_on: here.is_on().await?,
        flows: found.items,
        next: found.next,
    })
}

async fn flow(here: &WireHere, frame: Frame, kind: FlowKind, id: &str) -> Handled {
    let flow = here.wires.flow(&here.tenant, kind, id).await?;
    let content = FlowContent {
        base: base(&frame),
        flow,
    };
    framed(frame, content.title(), &content)
}

/// The flow of an offer or a request. If there is none, the answer is "not found" with the list, which says whether
/// anything is recorded.
async fn of(here: &WireHere, frame: Frame, kind: FlowKind, subject: &str) -> Handled {
    match here.wires.flow_of(&here.tenant, kind, subject).await {
        Ok(found) => flow(here, frame, kind, &found.id).await,
        Err(error) if error.kind == ErrorKind::NotFound => {
            let mut content = listed(here, &frame, kind, &Paging::default()).await?;
            content.lacks_wanted = true;
            let shown = framed(frame, content.title(), &content)?;
            Ok(refused(&error.into(), shown))
        }
        Err(error) => Err(error.into()),
    }
}

async fn erase(here: &WireHere, frame: &Frame, kind: FlowKind, id: &str) -> Handled {
    here.wires.erase(&here.tenant, kind, id).await?;
    let home = selfsame_agent_pages::wire::home(kind);
    Ok(Redirect::to(&format!("{}{home}", frame.here)).into_response())
}

fn base(frame: &Frame) -> PageBase {
    PageBase {
        here: frame.here.clone(),
        form: frame.form.clone(),
        ..PageBase::default()
    }
}

fn framed(frame: Frame, title: &str, content: &impl Template) -> Handled {
    let content = Content {
        title: title.to_owned(),
        is_failed: false,
        main: selfsame_agent_pages::render(content)?,
    };
    Ok(Html(selfsame_pages::render(&ContentPage::of(frame, content))?).into_response())
}
