//! What is fetched of a list: its results as CSV and as NDJSON, and sheets to print.

#![allow(unused_qualifications, reason = "the code that utoipa's macros write")]

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use futures_util::{Stream, StreamExt as _, stream};
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use selfsame_catalogue::{Language, tell};
use selfsame_driver::{Error, Reasons as _};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Path, Query};
use selfsame_issuing_lists::view::ListResult;
use selfsame_issuing_lists::{PRINTED_MAX, PrintedRows};
use selfsame_sheets::{SheetCard, sheet};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::here::IssuerHere;

/// How results are written.
#[derive(Clone, Copy)]
enum WrittenResults {
    Csv,
    Ndjson,
}

/// Which rows are printed.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PrintedFrom {
    /// The number of the first row, counted from 1; default 1. A sheet has at most 400 rows.
    from: Option<u64>,
}

/// What came of each row, as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe.
#[utoipa::path(get, path = "/api/issuer/lists/{id}/results.csv", operation_id = "issuer_get_results_csv", tag = "issuer", params(("id" = String, Path)), responses((status = 200, content_type = "text/csv", body = String)))]
pub async fn csv(here: IssuerHere, Path(id): Path<String>) -> Handled {
    results(here, id, WrittenResults::Csv).await
}

/// What came of each row, a JSON object a line.
#[utoipa::path(get, path = "/api/issuer/lists/{id}/results.ndjson", operation_id = "issuer_get_results_ndjson", tag = "issuer", params(("id" = String, Path)), responses((status = 200, content_type = "application/x-ndjson", body = String)))]
pub async fn ndjson(here: IssuerHere, Path(id): Path<String>) -> Handled {
    results(here, id, WrittenResults::Ndjson).await
}

/// Offers as QR codes to print and to cut, as PDF.
#[utoipa::path(get, path = "/api/issuer/lists/{id}/sheet.pdf", operation_id = "issuer_print_list", tag = "issuer", params(("id" = String, Path), PrintedFrom), responses((status = 200, content_type = "application/pdf", body = String)))]
pub async fn printed(
    here: IssuerHere,
    Path(id): Path<String>,
    Query(asked): Query<PrintedFrom>,
) -> Handled {
    let rows = PrintedRows {
        from: asked.from.unwrap_or(1),
        count: PRINTED_MAX,
    };
    let list = here.lists.one(&here.roles, &id).await?;
    let rows = here.lists.printed(&here.roles, &id, rows).await?;
    let types = here.issuer()?.types().all().await?;
    let file = cards(types.title(&list.type_id), &rows);
    Ok(fetched("application/pdf", "offers.pdf", Body::from(file)))
}

fn cards(title: &str, rows: &[ListResult]) -> Vec<u8> {
    let help: Vec<String> = rows
        .iter()
        .map(|row| {
            let until = row.expires.as_deref().and_then(|time| time.get(..10));
            format!(
                "Scan this code with your wallet until {}.",
                until.unwrap_or_default()
            )
        })
        .collect();
    let cards = rows.iter().zip(&help).map(|(row, help)| SheetCard {
        title,
        name: row.reference.as_deref().unwrap_or_default(),
        link: row.uri.as_deref().unwrap_or_default(),
        help,
    });
    sheet(&cards.collect::<Vec<_>>())
}

async fn results(here: IssuerHere, id: String, how: WrittenResults) -> Handled {
    // A list that does not exist is told before the first byte.
    here.lists.one(&here.roles, &id).await?;
    let (content_type, name) = match how {
        WrittenResults::Csv => ("text/csv; charset=utf-8", "results.csv"),
        WrittenResults::Ndjson => ("application/x-ndjson", "results.ndjson"),
    };
    let body = Body::from_stream(lines(Arc::new(here), id, how));
    Ok(fetched(content_type, name, body))
}

fn fetched(content_type: &'static str, name: &str, body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, content_type.to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
        // Anyone who has the link of an offer can take it.
        (CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, body).into_response()
}

/// The lines of the chunks, each read once the one before it was sent.
fn lines(
    here: Arc<IssuerHere>,
    id: String,
    how: WrittenResults,
) -> impl Stream<Item = Result<String, Error>> + Send + 'static {
    let head = match how {
        WrittenResults::Csv => ListResult::csv_header(),
        WrittenResults::Ndjson => String::new(),
    };
    let chunks = stream::try_unfold(0_u64, move |number| {
        let (here, id) = (here.clone(), id.clone());
        async move {
            let rows = here.lists.chunk(&here.roles, &id, number).await?;
            let text = rows.map(|rows| rows.into_iter().map(|row| line(row, how)).collect());
            Ok(text.map(|text: String| (text, number.saturating_add(1))))
        }
    });
    stream::once(async { Ok(head) }).chain(chunks)
}

fn line(mut row: ListResult, how: WrittenResults) -> String {
    for reason in row.reasons() {
        tell(Language::English, reason);
    }
    match how {
        WrittenResults::Ndjson => row.ndjson(),
        WrittenResults::Csv => {
            let why = row.why.as_ref().map(ToString::to_string);
            row.csv(&why.unwrap_or_default())
        }
    }
}
