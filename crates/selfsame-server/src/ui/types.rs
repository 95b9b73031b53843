//! The pages of an organisation's credential types.

pub mod editor;

use axum::response::{IntoResponse as _, Redirect};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use selfsame_pages::types::{ShownType, TypeLists, TypePage, TypesPage};
use selfsame_types::file;
use serde::Deserialize;

use super::Frame;
use crate::error::{Handled, Problem};
use crate::extract::{Path, Query};
use crate::here::Here;

/// What was done before a page is shown.
#[derive(Deserialize)]
pub struct After {
    done: Option<String>,
}

impl After {
    /// Whether this was done.
    pub fn is(&self, done: &str) -> bool {
        self.done.as_deref() == Some(done)
    }
}

/// All types.
pub async fn page(server: Here, frame: Frame, Query(after): Query<After>) -> Handled {
    let issuer = server.issuer()?;
    let types = issuer.types();
    let (all, drafts, published) = (
        types.list().await?,
        types.drafts().await?,
        types.all().await?,
    );
    let lists = TypeLists {
        all: &all,
        published: &published,
        drafts: &drafts,
        issuer: &issuer.name(),
        done: after.done.as_deref(),
    };
    super::html(&TypesPage::of(frame, &lists))
}

/// One type.
pub async fn view(
    server: Here,
    frame: Frame,
    Path(id): Path<String>,
    Query(after): Query<After>,
) -> Handled {
    let issuer = server.issuer()?;
    let one = server.app().type_shown(issuer, &id).await?;
    let published = issuer.types().all().await?;
    let versions = (1..=one.version.unwrap_or_default()).rev();
    let shown = ShownType {
        versions: versions
            .filter_map(|version| published.at(&id, version))
            .map(AsRef::as_ref)
            .collect(),
        one,
        issuer: &issuer.name(),
        done: after.done.as_deref(),
    };
    super::html(&TypePage::of(frame, shown))
}

/// The file of a type: its draft, or else its newest version.
pub async fn file(server: Here, Path(id): Path<String>) -> Handled {
    let one = server.issuer()?.types().one(&id).await?;
    let definition = one.draft.or(one.definition);
    let definition =
        definition.ok_or_else(|| Problem::bad_request("type-not-here").with("type", &id))?;
    let text = file::to_toml(&definition)?;
    let headers = [
        (CONTENT_TYPE, "application/toml; charset=utf-8".to_owned()),
        (
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{}.toml\"", definition.id),
        ),
    ];
    Ok((headers, text).into_response())
}

/// Publishes the draft of a type.
pub async fn publish(server: Here, Path(id): Path<String>) -> Handled {
    let published = server.app().publish_type(server.issuer()?, &id).await?;
    Ok(Redirect::to(&format!("/types/view/{}?done=published", published.id)).into_response())
}

/// Retires a type.
pub async fn retire(server: Here, Path(id): Path<String>) -> Handled {
    let retired = server.issuer()?.types().retire(&id).await?;
    Ok(Redirect::to(&format!("/types/view/{}?done=retired", retired.id)).into_response())
}

/// Deletes the draft of a type.
pub async fn delete_draft(server: Here, Path(id): Path<String>) -> Handled {
    server.issuer()?.types().delete_draft(&id).await?;
    Ok(Redirect::to("/types?done=deleted").into_response())
}
