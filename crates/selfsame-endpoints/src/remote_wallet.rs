//! The addresses of TheOrgBook's key-value service of 2018, behind which Indy wallets of the type "remote" kept their rows.

use std::sync::Arc;

use axum::extract::{FromRef, FromRequest, FromRequestParts, Request};
use axum::response::IntoResponse as _;
use http::header::{AUTHORIZATION, LINK};
use http::request::Parts;
use selfsame_core::organisation::Organisation;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::Error;
use selfsame_http::error::{Handled, Problem};
use selfsame_http::extract::{Form, Path, Query, Raw, after, is_kind};
use selfsame_http::response::{created, done, json as answer};
use selfsame_openid::OrganisationRoles;
use selfsame_remote_wallet::{ListedRows, NewRow, RemoteWallets, WalletRow, WalletRows};
use serde::{Deserialize, Serialize};

use crate::instance::{ActiveRolesHere, Instance};

/// The limits of a row as JSON: a value, and some members beside it.
const LIMITS: Limits = Limits {
    max_bytes: 1 << 20,
    max_depth: 8,
    max_members: 100,
};

/// The remote wallets of the organisation whose address was called, for the sender of the request.
pub struct RemoteWalletHere {
    wallets: RemoteWallets,
    roles: Arc<OrganisationRoles>,
    token: Option<String>,
}

impl<S> FromRequestParts<S> for RemoteWalletHere
where
    S: Send + Sync,
    Instance: FromRef<S>,
    ActiveRolesHere: FromRequestParts<S>,
{
    type Rejection = <ActiveRolesHere as FromRequestParts<S>>::Rejection;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        let ActiveRolesHere(roles) = ActiveRolesHere::from_request_parts(parts, state).await?;
        let token = parts.headers.get(AUTHORIZATION);
        let token = token.and_then(|header| after(header, "token"));
        Ok(Self {
            wallets: Instance::from_ref(state).remote_wallets(),
            token: token.map(str::to_owned),
            roles,
        })
    }
}

impl RemoteWalletHere {
    fn organisation(&self) -> &Organisation {
        &self.roles.organisation
    }

    async fn rows(&self) -> Handled<WalletRows> {
        let token = self.token.as_deref();
        Ok(self.wallets.opened(self.organisation(), token).await?)
    }

    fn shown(&self, row: WalletRow) -> Handled<ShownRow> {
        let path = format!("api/v1/keyval/{}/", row.number);
        Ok(ShownRow {
            url: self.organisation().url(&path)?.into(),
            id: row.number,
            created: row.created.rfc3339(),
            wallet_name: row.wallet_name,
            item_type: row.item_type,
            item_id: row.item_id,
            item_value: row.item_value,
            creator: row.creator,
        })
    }
}

/// A row as the service of 2018 shows it.
#[derive(Deserialize, Serialize)]
pub struct ShownRow {
    /// Its address.
    pub url: String,
    /// Its number.
    pub id: i64,
    /// When it was created, RFC 3339.
    pub created: String,
    /// The name of the wallet.
    pub wallet_name: String,
    /// The type of the item.
    pub item_type: String,
    /// The id of the item.
    pub item_id: String,
    /// The value.
    pub item_value: String,
    /// The name of the API key by which it was created.
    pub creator: String,
}

/// The members of a row as they are sent, as JSON or as a form. Others, such as `created_date`, are ignored.
#[derive(Default, Deserialize)]
pub struct RowMembers {
    wallet_name: Option<String>,
    item_type: Option<String>,
    item_id: Option<String>,
    item_value: Option<String>,
}

/// What is exchanged for a token, as JSON or as a form.
#[derive(Default, Deserialize)]
pub struct SignInMembers {
    username: Option<String>,
    password: Option<String>,
}

/// The token of further calls.
#[derive(Deserialize, Serialize)]
pub struct RowsToken {
    /// The API key.
    pub token: String,
}

/// Where a list goes on.
#[derive(Deserialize)]
pub struct AfterRow {
    after: Option<String>,
}

/// The names in the address of a row.
type RowNames = Path<(String, String, String)>;

impl<S: Send + Sync> FromRequest<S> for RowMembers {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if is_json(&request) {
            return read(request, state).await;
        }
        let form = Form::from_request(request, state).await?;
        let field = |name: &str| form.verbatim(name).ok().map(str::to_owned);
        Ok(Self {
            wallet_name: field("wallet_name"),
            item_type: field("item_type"),
            item_id: field("item_id"),
            item_value: field("item_value"),
        })
    }
}

impl<S: Send + Sync> FromRequest<S> for SignInMembers {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        if is_json(&request) {
            return read(request, state).await;
        }
        let form = Form::from_request(request, state).await?;
        let field = |name: &str| form.verbatim(name).ok().map(str::to_owned);
        Ok(Self {
            username: field("username"),
            password: field("password"),
        })
    }
}

fn is_json(request: &Request) -> bool {
    is_kind(request.headers(), "application/json")
}

async fn read<T: serde::de::DeserializeOwned, S: Send + Sync>(
    request: Request,
    state: &S,
) -> Result<T, Problem> {
    let Raw(body) = Raw::from_request(request, state).await?;
    let read = json::parse_as(&body, &LIMITS);
    read.map_err(|error| Problem::bad_request("body-invalid").with("detail", &error))
}

impl RowMembers {
    /// A whole row.
    fn whole(self) -> Handled<NewRow> {
        Ok(NewRow {
            wallet_name: needed("wallet_name", self.wallet_name)?,
            item_type: needed("item_type", self.item_type)?,
            item_id: needed("item_id", self.item_id)?,
            item_value: needed("item_value", self.item_value)?,
        })
    }

    /// A row with these members and the rest of another one.
    fn over(&self, row: &WalletRow) -> NewRow {
        let either = |new: &Option<String>, former: &String| new.as_ref().unwrap_or(former).clone();
        NewRow {
            wallet_name: either(&self.wallet_name, &row.wallet_name),
            item_type: either(&self.item_type, &row.item_type),
            item_id: either(&self.item_id, &row.item_id),
            item_value: either(&self.item_value, &row.item_value),
        }
    }
}

fn needed<T>(field: &str, value: Option<T>) -> Handled<T> {
    value.ok_or_else(|| Problem::bad_request("field-missing").with("field", field))
}

/// Gives the token of further calls for the name and the secret of an API key.
pub async fn sign_in(here: RemoteWalletHere, sent: SignInMembers) -> Handled {
    let name = needed("username", sent.username)?;
    let key = needed("password", sent.password)?;
    let wallets = &here.wallets;
    let token = wallets.signed_in(here.organisation(), &name, &key).await?;
    answer(&RowsToken { token })
}

/// Creates a row.
pub async fn create(here: RemoteWalletHere, sent: RowMembers) -> Handled {
    let row = here.rows().await?.create(sent.whole()?).await?;
    created(&here.shown(row)?)
}

/// The rows of a wallet and a type, as a list.
pub async fn listed(
    here: RemoteWalletHere,
    Path((wallet_name, item_type)): Path<(String, String)>,
    Query(AfterRow { after }): Query<AfterRow>,
) -> Handled {
    let rows = here.rows().await?;
    let listed = rows.listed(&wallet_name, &item_type, after.as_deref());
    let ListedRows { rows, next } = listed.await?;
    let shown: Handled<Vec<ShownRow>> = rows.into_iter().map(|row| here.shown(row)).collect();
    let response = answer(&shown?)?;
    let Some(next) = next else {
        return Ok(response);
    };
    let mut there = here.organisation().url("api/v1/keyval/")?;
    if let Ok(mut path) = there.path_segments_mut() {
        path.pop_if_empty().extend([&wallet_name, &item_type, ""]);
    }
    there.query_pairs_mut().append_pair("after", &next);
    Ok(([(LINK, format!("<{there}>; rel=\"next\""))], response).into_response())
}

/// The row with these names, as a list with one row or none.
pub async fn named(
    here: RemoteWalletHere,
    Path((wallet_name, item_type, item_id)): RowNames,
) -> Handled {
    let rows = here.rows().await?;
    let row = rows.named(&wallet_name, &item_type, &item_id).await?;
    let shown: Handled<Vec<ShownRow>> = row.into_iter().map(|row| here.shown(row)).collect();
    answer(&shown?)
}

/// The row with this number.
pub async fn show(here: RemoteWalletHere, Path(number): Path<i64>) -> Handled {
    let row = here.rows().await?.row(number).await?;
    answer(&here.shown(row)?)
}

/// Replaces a row.
pub async fn replace(here: RemoteWalletHere, Path(number): Path<i64>, sent: RowMembers) -> Handled {
    let new = sent.whole()?;
    let row = here
        .rows()
        .await?
        .change(number, |_| Ok(new.clone()))
        .await?;
    answer(&here.shown(row)?)
}

/// Replaces members of a row.
pub async fn change(here: RemoteWalletHere, Path(number): Path<i64>, sent: RowMembers) -> Handled {
    let rows = here.rows().await?;
    let row = rows
        .change(number, |row| Ok::<_, Error>(sent.over(row)))
        .await?;
    answer(&here.shown(row)?)
}

/// Removes a row.
pub async fn remove(here: RemoteWalletHere, Path(number): Path<i64>) -> Handled {
    here.rows().await?.remove(number).await?;
    done()
}
