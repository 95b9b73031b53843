//! `/api/types/{id}/book`: how a type appears in the book, for programs.

use selfsame_book::BookMapping;
use selfsame_book_role::MappingPreview;
use selfsame_book_view::mapping::PreviewedMapping;
use selfsame_driver::{Error, Reason};
use selfsame_http::error::Handled;
use selfsame_http::extract::{Json, Path};
use selfsame_http::response::{done, json, told};

use crate::here::BookHere;

/// The mapping of a type: that of its draft, or else of its newest version.
#[utoipa::path(get, path = "/api/types/{id}/book", tag = "types", operation_id = "types_show_book", params(("id" = String, Path)), responses((status = 200, body = Object)))]
pub async fn show(BookHere { book, .. }: BookHere, Path(id): Path<String>) -> Handled {
    let edited = book.edited(&id).await?;
    let absent = || Error::not_found("book-type-unmapped").with("type", &id);
    json(edited.mapping().ok_or_else(absent)?)
}

/// Saves a mapping in the draft of a type, which is begun if there is none. It holds once the draft is published.
#[utoipa::path(put, path = "/api/types/{id}/book", tag = "types", operation_id = "types_replace_book", params(("id" = String, Path)), request_body = Object, responses((status = 200, body = PreviewedMapping)))]
pub async fn replace(
    BookHere { book, .. }: BookHere,
    Path(id): Path<String>,
    Json(mapping): Json<BookMapping>,
) -> Handled {
    book.save_mapping(&id, Some(mapping.clone())).await?;
    let preview = book.edited(&id).await?.preview(&mapping);
    told(shown(&preview))
}

/// Takes a type out of the book: in its draft, which is begun if there is none.
#[utoipa::path(delete, path = "/api/types/{id}/book", tag = "types", operation_id = "types_remove_book", params(("id" = String, Path)), responses((status = 204)))]
pub async fn remove(BookHere { book, .. }: BookHere, Path(id): Path<String>) -> Handled {
    book.save_mapping(&id, None).await?;
    done()
}

/// What a mapping would make of the sample claims of a type, and what is wrong with it. Nothing is stored.
#[utoipa::path(post, path = "/api/types/{id}/book/preview", tag = "types", operation_id = "types_preview_book", params(("id" = String, Path)), request_body = Object, responses((status = 200, body = PreviewedMapping)))]
pub async fn preview(
    BookHere { book, .. }: BookHere,
    Path(id): Path<String>,
    Json(mapping): Json<BookMapping>,
) -> Handled {
    let preview = book.edited(&id).await?.preview(&mapping);
    told(shown(&preview))
}

/// A preview as programs and pages show it.
pub(crate) fn shown(preview: &MappingPreview) -> PreviewedMapping {
    let refusals: Vec<Reason> = preview
        .refusals
        .iter()
        .chain(&preview.misfit)
        .cloned()
        .collect();
    let facts = preview.facts.as_ref();
    let lines = |kind: &str, value: &str| format!("{kind}: {value}");
    PreviewedMapping {
        refusals,
        advice: preview.advice.clone(),
        topic_type: facts.map(|facts| facts.topic.kind.clone()),
        source_id: facts.map(|facts| facts.topic.source_id.clone()),
        names: facts.map_or_else(Vec::new, |facts| {
            let names = facts.names.iter();
            names.map(|one| lines(&one.kind, &one.text)).collect()
        }),
        addresses: facts.map_or_else(Vec::new, |facts| {
            facts.addresses.iter().map(|one| one.line()).collect()
        }),
        attributes: facts.map_or_else(Vec::new, |facts| {
            let attributes = facts.attributes.iter();
            attributes.map(|one| lines(&one.kind, &one.value)).collect()
        }),
        facets: facts.map_or_else(Vec::new, |facts| {
            let facets = facts.attributes.iter().filter(|one| one.is_facet);
            facets.map(|one| one.kind.clone()).collect()
        }),
        relationships: facts.map_or_else(Vec::new, |facts| {
            let related = facts.related.iter();
            related
                .map(|one| lines(&one.relation, &one.topic.source_id))
                .collect()
        }),
        inactive: facts.is_some_and(|facts| facts.inactive),
        shown: preview.shown.clone(),
    }
}
