//! Lists, and the parameters of their pages.

use selfsame_driver::paging::Paging;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// A list without pagination.
#[derive(Serialize, ToSchema)]
pub struct Items<T> {
    /// The entries.
    pub items: Vec<T>,
}

/// Pagination of a list.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(
    dead_code,
    reason = "describes `selfsame_driver::paging::Paging`, which is what handlers take"
)]
pub struct Page {
    /// The `next` of the previous page; absent for the first page.
    after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[param(minimum = 1)]
    limit: Option<usize>,
}

/// Pagination of a list on a page. Other query parameters, such as those that name where the person came from, are
/// ignored.
#[derive(Deserialize)]
pub struct ListPosition {
    after: Option<String>,
    #[serde(default, deserialize_with = "selfsame_driver::paging::at_least_one")]
    limit: Option<usize>,
}

impl ListPosition {
    /// The first page.
    #[must_use]
    pub fn first() -> Self {
        let (after, limit) = (None, None);
        Self { after, limit }
    }

    /// Whether it is the first page.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.after.as_ref().is_none_or(String::is_empty)
    }
}

impl From<ListPosition> for Paging {
    fn from(ListPosition { after, limit }: ListPosition) -> Self {
        Self { after, limit }
    }
}
