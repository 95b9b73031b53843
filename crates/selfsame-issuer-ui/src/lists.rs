//! The pages of issuing lists: a file is sent and checked, issued after a question, and followed.

use axum::response::{IntoResponse as _, Redirect};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use selfsame_driver::Reason;
use selfsame_driver::paging::Paging;
use selfsame_http::correction::{correctable, refused};
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path, Query, UploadedFile};
use selfsame_http::listing::ListPosition;
use selfsame_issuer_pages::list::ListContent;
use selfsame_issuer_pages::lists::{ListType, ListsContent};
use selfsame_issuing_lists::view::{IssuingList, ListKind, ListState, NewIssuingList};
use selfsame_issuing_lists::{FilePortion, example};
use selfsame_pages::Frame;
use serde::Deserialize;

use crate::framed;
use crate::here::IssuerHere;

/// The largest file that a form sends, in megabytes. A program sends longer ones in portions.
const MEGABYTES: usize = 8;
/// The largest form: a file, and what stands around it.
pub const FORM_MAX: usize = MEGABYTES * 1_000_000 + 64 * 1024;
/// The bytes that are checked in one commit.
const PORTION: usize = 1024 * 1024;
const TITLE: &str = "Issue from a file";
const DAY: u64 = 24 * 3600;

/// Which page of the lists, and for which type.
#[derive(Default, Deserialize)]
pub struct ListsQuery {
    after: Option<String>,
    #[serde(default, rename = "type")]
    type_id: String,
}

/// The lists, and the form that begins one.
pub async fn page(here: IssuerHere, frame: Frame, Query(asked): Query<ListsQuery>) -> Handled {
    let content = shown(&here, &frame, asked).await?;
    framed(frame, TITLE, &content)
}

async fn shown(here: &IssuerHere, frame: &Frame, asked: ListsQuery) -> Handled<ListsContent> {
    let types = here.issuer()?.types().all().await?;
    let paging = Paging {
        after: asked.after,
        limit: Some(20),
    };
    let lists = here.lists.list(&here.roles, &paging).await?;
    let types = types.issued().filter(|one| one.prerequisites.is_none());
    let types = types.map(|one| ListType {
        id: one.id.clone(),
        title: one.name().to_owned(),
    });
    Ok(ListsContent {
        base: IssuerHere::base(frame),
        types: types.collect(),
        chosen: asked.type_id,
        has_mail: here.lists.has_mail(),
        megabytes: MEGABYTES,
        lists: lists.items,
        next: lists.next,
        wrong: None,
    })
}

/// A file to fill in, with one row about an invented person.
pub async fn sample(here: IssuerHere, Path(id): Path<String>) -> Handled {
    let types = here.issuer()?.types().all().await?;
    let one = types.find(&id)?;
    let name = format!("attachment; filename=\"{}.csv\"", one.id);
    let headers = [
        (CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (CONTENT_DISPOSITION, name),
    ];
    Ok((headers, example(one)?).into_response())
}

/// Takes a file and checks it. Its page shows what is wrong, or asks before anything is offered.
pub async fn send(here: IssuerHere, frame: Frame, form: Form) -> Handled {
    match sent(&here, &form).await {
        Ok(list) => Ok(Redirect::to(&address(&list.id)).into_response()),
        Err(problem) => {
            let (problem, _) = correctable(problem)?;
            let asked = ListsQuery {
                after: None,
                type_id: form.one("type").unwrap_or_default().to_owned(),
            };
            let mut content = shown(&here, &frame, asked).await?;
            content.wrong = Some(problem.reason().clone());
            Ok(refused(&problem, framed(frame, TITLE, &content)?))
        }
    }
}

async fn sent(here: &IssuerHere, form: &Form) -> Handled<IssuingList> {
    let missing = || Problem::bad_request("field-missing").with("field", "file");
    let file = form.file("file").ok_or_else(missing)?;
    let new = new_list(form, file)?;
    let list = here.lists.create(&here.roles, &new).await?;
    let mut from = 0_u64;
    for bytes in file.bytes.chunks(PORTION) {
        let portion = FilePortion {
            from,
            bytes: bytes.to_vec(),
        };
        let received = here.lists.receive(&here.roles, &list.id, portion).await?;
        from = received.received;
    }
    Ok(here.lists.check(&here.roles, &list.id).await?)
}

fn new_list(form: &Form, file: &UploadedFile) -> Handled<NewIssuingList> {
    let days = match form.one("days").map(str::parse::<u64>) {
        None => None,
        Some(Ok(days)) => Some(days),
        Some(Err(_)) => {
            let kind = Reason::new("kind-integer");
            let wrong = selfsame_driver::Error::bad_request("field-of-other-kind")
                .with("label", "days")
                .with_reason("kind", kind);
            return Err(wrong.into());
        }
    };
    let name: String = file.name.chars().take(200).collect();
    Ok(NewIssuingList {
        type_id: form.needed("type")?.to_owned(),
        format: None,
        kind: kind_of(&file.name),
        name: Some(name),
        digest: None,
        tx_code: form.checked("tx_code"),
        expires_in: days.map(|days| days.saturating_mul(DAY)),
        mail: form.checked("mail"),
    })
}

fn kind_of(name: &str) -> ListKind {
    let name = name.to_lowercase();
    match [".ndjson", ".jsonl"].iter().any(|end| name.ends_with(end)) {
        true => ListKind::Ndjson,
        false => ListKind::Csv,
    }
}

/// One list, with a page of its rows.
pub async fn one(
    here: IssuerHere,
    frame: Frame,
    Path(id): Path<String>,
    Query(at): Query<ListPosition>,
) -> Handled {
    let list = here.lists.one(&here.roles, &id).await?;
    let types = here.issuer()?.types().all().await?;
    let (mut rows, mut next) = (Vec::new(), None);
    if list.offered > 0 {
        let listed = here.lists.results(&here.roles, &id, &at.into()).await?;
        (rows, next) = (listed.items, listed.next);
    }
    let content = ListContent {
        base: IssuerHere::base(&frame),
        title: types.title(&list.type_id).to_owned(),
        list,
        rows,
        next,
    };
    framed(frame, TITLE, &content)
}

/// Makes the offers from now on.
pub async fn issue(here: IssuerHere, Path(id): Path<String>) -> Handled {
    let list = here.lists.one(&here.roles, &id).await?;
    // A form that is sent twice issues once.
    if matches!(list.state, ListState::Receiving | ListState::Checked) {
        here.lists.issue(&here.roles, &id).await?;
    }
    Ok(Redirect::to(&address(&id)).into_response())
}

/// Ends a list.
pub async fn cancel(here: IssuerHere, Path(id): Path<String>) -> Handled {
    let list = here.lists.one(&here.roles, &id).await?;
    if !list.state.is_over() {
        here.lists.cancel(&here.roles, &id).await?;
    }
    Ok(Redirect::to(&address(&id)).into_response())
}

fn address(id: &str) -> String {
    format!("/issuer/lists/{id}")
}
