//! Webhooks: the list, the page of each, and secrets, which are shown once.

use axum::response::{Html, IntoResponse as _, Redirect};
use selfsame_driver::paging::Paging;
use selfsame_http::correction::refused;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path, Query};
use selfsame_pages::webhooks::{
    RefusedForm, TypedWebhook, WebhookLine, WebhookPage, WebhookSecretPage, WebhookShown,
    WebhooksPage,
};
use selfsame_pages::{Frame, Template, WrongField};
use selfsame_webhooks::{
    DeliveryState, EndpointChange, EventReplay, EventType, NewEndpoint, WhichDeliveries,
};
use serde::Deserialize;

use crate::here::WebhooksHere;

/// Number of deliveries of each state on a page.
const SHOWN: usize = 20;

/// Pagination of both lists, and the result of a replay.
#[derive(Default, Deserialize)]
pub struct WebhookPosition {
    pending: Option<String>,
    failed: Option<String>,
    replayed: Option<u64>,
}

/// The list.
pub async fn list(here: WebhooksHere, frame: Frame) -> Handled {
    html(&listed(&here, frame).await?)
}

/// Creates a webhook, and shows its secret.
pub async fn create(here: WebhooksHere, frame: Frame, form: Form) -> Handled {
    let typed = typed(&form);
    let created = match typed.types.is_empty() {
        true => Err(Problem::bad_request("webhook-types-unchosen")),
        false => here
            .webhooks
            .create(&here.owner, &new(&typed))
            .await
            .map_err(Problem::from),
    };
    match created {
        Ok(created) => html(&WebhookSecretPage::created(frame, &created)),
        Err(problem) => {
            let Some(wrong) = wrong(&problem) else {
                return Err(problem);
            };
            let page = listed(&here, frame).await?;
            let again = page.refused(typed, wrong.into());
            Ok(refused(&problem, html(&again)?))
        }
    }
}

/// One webhook.
pub async fn page(
    here: WebhooksHere,
    frame: Frame,
    Path(id): Path<String>,
    Query(at): Query<WebhookPosition>,
) -> Handled {
    html(&shown(&here, frame, &id, at).await?)
}

/// Changes its address, its description and its types.
pub async fn change(
    here: WebhooksHere,
    frame: Frame,
    Path(id): Path<String>,
    form: Form,
) -> Handled {
    let typed = typed(&form);
    match changed(&here, &id, &typed).await {
        Ok(()) => back(&id),
        Err(problem) => {
            let refused = FormProblem {
                form: "change",
                typed: Some(typed),
                since: String::new(),
            };
            refused.again(&here, frame, &id, problem).await
        }
    }
}

/// Changes a webhook to what was typed. One that is sent all types stays so, whatever types come later.
async fn changed(here: &WebhooksHere, id: &str, typed: &TypedWebhook) -> Handled<()> {
    if typed.types.is_empty() {
        return Err(Problem::bad_request("webhook-types-unchosen"));
    }
    let (webhooks, owner) = (&here.webhooks, &here.owner);
    let before = webhooks.endpoint(owner, id).await?;
    let types = new(typed).types;
    let change = EndpointChange {
        url: Some(typed.url.clone()),
        description: Some(typed.description.clone()),
        types: types.or_else(|| before.types.map(|_| typed.types.clone())),
        enabled: None,
    };
    webhooks.change(owner, id, change).await?;
    Ok(())
}

/// Disables it, or enables it again.
pub async fn set_enabled(here: WebhooksHere, Path(id): Path<String>, form: Form) -> Handled {
    let change = EndpointChange {
        enabled: Some(form.checked("enabled")),
        ..EndpointChange::default()
    };
    here.webhooks.change(&here.owner, &id, change).await?;
    back(&id)
}

/// Replaces the secret, and shows the new one.
pub async fn rotate(here: WebhooksHere, frame: Frame, Path(id): Path<String>) -> Handled {
    let rotated = here.webhooks.rotate(&here.owner, &id).await?;
    html(&WebhookSecretPage::rotated(frame, &rotated))
}

/// Sends a test.
pub async fn test(here: WebhooksHere, Path(id): Path<String>) -> Handled {
    here.webhooks.test(&here.owner, &id).await?;
    Ok(Redirect::to(&format!("/webhooks/{id}#pending")).into_response())
}

/// Sends a delivery that was given up once more.
pub async fn resend(here: WebhooksHere, Path((id, delivery)): Path<(String, String)>) -> Handled {
    here.webhooks.resend(&here.owner, &id, &delivery).await?;
    Ok(Redirect::to(&format!("/webhooks/{id}#pending")).into_response())
}

/// Sends the events since a time again.
pub async fn replay(
    here: WebhooksHere,
    frame: Frame,
    Path(id): Path<String>,
    form: Form,
) -> Handled {
    let since = form.one("since").unwrap_or_default();
    let replay = EventReplay::Since(utc(since));
    match here.webhooks.replay(&here.owner, &id, &replay).await {
        Ok(replayed) => {
            let there = format!("/webhooks/{id}?replayed={}", replayed.deliveries);
            Ok(Redirect::to(&there).into_response())
        }
        Err(error) => {
            let refused = FormProblem {
                form: "replay",
                typed: None,
                since: since.to_owned(),
            };
            refused.again(&here, frame, &id, error.into()).await
        }
    }
}

/// Removes it with its deliveries.
pub async fn remove(here: WebhooksHere, Path(id): Path<String>) -> Handled {
    here.webhooks.remove(&here.owner, &id).await?;
    Ok(Redirect::to("/webhooks").into_response())
}

/// A form of a webhook's page that was refused.
struct FormProblem {
    form: &'static str,
    typed: Option<TypedWebhook>,
    since: String,
}

impl FormProblem {
    /// The page again, if the form can correct the error.
    async fn again(self, here: &WebhooksHere, frame: Frame, id: &str, problem: Problem) -> Handled {
        let Some(wrong) = wrong(&problem) else {
            return Err(problem);
        };
        let page = shown(here, frame, id, WebhookPosition::default()).await?;
        let again = RefusedForm {
            form: self.form,
            typed: self.typed,
            since: self.since,
            wrong: wrong.into(),
        };
        Ok(refused(&problem, html(&page.refused(again))?))
    }
}

async fn listed(here: &WebhooksHere, frame: Frame) -> Handled<WebhooksPage> {
    let (webhooks, owner) = (&here.webhooks, &here.owner);
    let mut lines = Vec::new();
    for endpoint in webhooks.endpoints(owner).await? {
        let counts = webhooks.counts(owner, &endpoint.id).await?;
        lines.push(WebhookLine { endpoint, counts });
    }
    Ok(WebhooksPage::of(frame, lines))
}

async fn shown(
    here: &WebhooksHere,
    frame: Frame,
    id: &str,
    at: WebhookPosition,
) -> Handled<WebhookPage> {
    let (webhooks, owner) = (&here.webhooks, &here.owner);
    let limit = Some(SHOWN);
    let which = |state, after| {
        let paging = Paging { after, limit };
        WhichDeliveries { state, paging }
    };
    let pending = which(DeliveryState::Pending, at.pending);
    let failed = which(DeliveryState::Failed, at.failed);
    let shown = WebhookShown {
        endpoint: webhooks.endpoint(owner, id).await?,
        pending: webhooks.deliveries(owner, id, &pending).await?,
        failed: webhooks.deliveries(owner, id, &failed).await?,
        replayed: at.replayed,
    };
    Ok(WebhookPage::of(frame, shown))
}

fn typed(form: &Form) -> TypedWebhook {
    let text = |name| form.one(name).unwrap_or_default().to_owned();
    let ticked = form.all("types").iter();
    TypedWebhook {
        url: text("url"),
        description: text("description"),
        types: ticked.filter_map(|name| EventType::named(name)).collect(),
    }
}

fn new(typed: &TypedWebhook) -> NewEndpoint {
    let is_all = typed.types.len() == EventType::ASKED_FOR.len();
    NewEndpoint {
        url: typed.url.clone(),
        description: typed.description.clone(),
        types: (!is_all).then(|| typed.types.clone()),
    }
}

/// The time of a form's field, which has no time zone, as one of RFC 3339 in UTC.
fn utc(since: &str) -> String {
    match since.len() {
        16 => format!("{since}:00Z"),
        19 => format!("{since}Z"),
        _ => since.to_owned(),
    }
}

/// The field that an error is about; `None` for an error that a form can't correct.
fn wrong(problem: &Problem) -> Option<WrongField> {
    let field = match problem.reason().id() {
        "webhook-url-refused" | "webhook-url-long" | "webhooks-too-many" => "url",
        "webhook-description-long" => "description",
        "webhook-types-unchosen" => "types",
        "webhook-replay-time" => "since",
        _ => return None,
    };
    let told = problem.told();
    let field = field.into();
    Some(WrongField { field, told })
}

fn back(id: &str) -> Handled {
    Ok(Redirect::to(&format!("/webhooks/{id}")).into_response())
}

/// A page as a response.
fn html(page: &impl Template) -> Handled {
    Ok(Html(selfsame_pages::render(page)?).into_response())
}
