//! A person's cards: the list with its search, and groups by issuer, by type and by state.

use axum::response::{Html, IntoResponse as _};
use selfsame_driver::paging::{Listing, Paging};
use selfsame_http::error::Handled;
use selfsame_http::extract::Query;
use selfsame_http::response::json;
use selfsame_pages::wallet::groups::GroupsPage;
use selfsame_pages::wallet::{CardsShown, ShownGroup, WalletPage};
use selfsame_pages::{Frame, Template};
use selfsame_wallet::view::CardSummary;
use selfsame_wallet::{CardGroups, GroupBy, Grouping, WhichCards};
use serde::Deserialize;

use crate::receiving::OwnWallet;

/// Where the list continues, what it is of, and the action just completed.
#[derive(Deserialize)]
pub struct WalletPosition {
    after: Option<String>,
    #[serde(default, deserialize_with = "selfsame_driver::paging::at_least_one")]
    limit: Option<usize>,
    done: Option<String>,
    q: Option<String>,
    issuer: Option<String>,
    #[serde(rename = "type")]
    type_name: Option<String>,
    state: Option<String>,
}

impl WalletPosition {
    fn group(&self) -> Option<ShownGroup> {
        let of = |by, key: &Option<String>| {
            Some(ShownGroup {
                by,
                key: key.clone()?,
            })
        };
        of(GroupBy::Issuer, &self.issuer)
            .or_else(|| of(GroupBy::Type, &self.type_name))
            .or_else(|| of(GroupBy::State, &self.state))
    }
}

/// The cards.
pub async fn page(own: OwnWallet, frame: Frame, Query(at): Query<WalletPosition>) -> Handled {
    let group = at.group();
    let which = WhichCards {
        q: at.q,
        issuer: at.issuer,
        type_name: at.type_name,
        state: at.state,
        after: at.after,
        limit: at.limit,
        ..WhichCards::default()
    };
    let listed = own.wallet.find_cards(&own.person, &which).await?;
    let preparing = own.wallet.prepared(&own.person, &Paging::default()).await?;
    let shown = CardsShown {
        done: at.done.as_deref(),
        sought: which.q.as_deref().unwrap_or_default(),
        group,
        own: &own.origin,
    };
    html(&WalletPage::of(frame, listed, &shown).preparing(preparing.items))
}

fn html(page: &impl Template) -> Handled {
    Ok(Html(selfsame_pages::render(page)?).into_response())
}

/// The groups of the cards.
pub async fn groups_page(own: OwnWallet, frame: Frame, Query(by): Query<Grouping>) -> Handled {
    let groups = own.wallet.card_groups(&own.person, &by).await?;
    html(&GroupsPage::of(frame, by.by, groups))
}

/// The cards, newest first. With a filter, a page can have fewer entries than asked for, and a next page.
#[utoipa::path(
    get,
    path = "/api/wallet/credentials",
    operation_id = "wallet_list_cards",
    tag = "wallet",
    params(WhichCards),
    responses((status = 200, body = Listing<CardSummary>))
)]
pub async fn list(own: OwnWallet, Query(which): Query<WhichCards>) -> Handled {
    json(&own.wallet.find_cards(&own.person, &which).await?)
}

/// The groups of the cards, the largest first, with how many cards each has. The list of cards takes the key of a group as
/// a filter of the same name.
#[utoipa::path(
    get,
    path = "/api/wallet/groups",
    operation_id = "wallet_list_groups",
    tag = "wallet",
    params(Grouping),
    responses((status = 200, body = CardGroups))
)]
pub async fn groups(own: OwnWallet, Query(by): Query<Grouping>) -> Handled {
    json(&own.wallet.card_groups(&own.person, &by).await?)
}
