//! The parameters of von-network's addresses, read strictly.

use axum::extract::FromRequestParts;
use http::request::Parts;
use selfsame_http::error::{Handled, Problem};
use selfsame_ledger::browse::{Browser, IndyLedger, Type, ViewPage};

/// Largest page size.
const PAGE_SIZE_MAX: u64 = 200;
/// Largest page number.
const PAGE_MAX: u64 = 1 << 40;

/// The part of a ledger to list.
#[derive(Debug, Default)]
pub struct AskedPart {
    page: Option<u64>,
    page_size: Option<u64>,
    query: Option<String>,
    kind: Option<Type>,
}

/// Like [`AskedPart`], for pages: parameters that others have added to the address are ignored.
pub struct OnPage(pub AskedPart);

impl AskedPart {
    const NAMES: [&str; 4] = ["page", "page_size", "query", "type"];

    /// The page asked for.
    pub fn page(&self, size: u64) -> ViewPage<'_> {
        ViewPage {
            kind: self.kind,
            text: self.query.as_deref(),
            page: self.page.unwrap_or(1),
            size: self.page_size.unwrap_or(size),
        }
    }

    fn parse(query: &str) -> Handled<Self> {
        let mut asked = Self::default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            // As in von-network: an empty parameter counts as absent.
            let value = value.trim();
            let is_twice = match &*name {
                "page" => replaced(&mut asked.page, number(&name, value, PAGE_MAX)?),
                "page_size" => replaced(&mut asked.page_size, number(&name, value, PAGE_SIZE_MAX)?),
                "query" => replaced(&mut asked.query, filled(value).map(str::to_owned)),
                "type" => replaced(&mut asked.kind, filled(value).map(kind).transpose()?),
                _ => {
                    return Err(Problem::bad_request("ledger-parameter-unknown"));
                }
            };
            if is_twice {
                return Err(Problem::bad_request("parameter-twice").with("parameter", &name));
            }
        }
        Ok(asked)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for AskedPart {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        Self::parse(parts.uri.query().unwrap_or_default())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for OnPage {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let known = url::form_urlencoded::parse(query.as_bytes())
            .filter(|(name, _)| AskedPart::NAMES.contains(&&**name));
        let mut ours = url::form_urlencoded::Serializer::new(String::new());
        AskedPart::parse(&ours.extend_pairs(known).finish()).map(Self)
    }
}

/// The ledger with this name.
pub fn view_named(name: &str) -> Handled<IndyLedger> {
    IndyLedger::parse(name).ok_or_else(|| Problem::bad_request("indy-ledger-unknown"))
}

/// Whether the query of `/status` asks for validators.
pub fn asks_for_validators(query: Option<&str>) -> Handled<bool> {
    let mut asks = false;
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match &*name {
            "validators" => asks = !value.trim().is_empty(),
            _ => {
                return Err(Problem::bad_request("status-parameter-unknown"));
            }
        }
    }
    Ok(asks)
}

/// A transaction's number, and the index of one of its operations, from `12`, `12.3`, a hash, or a hash with an
/// index; `None` if there is no such transaction.
pub fn place(browser: &Browser<'_>, ident: &str) -> Handled<Option<(u64, Option<u64>)>> {
    let (ident, place) = match ident.split_once('.') {
        Some((ident, place)) => (ident, number("the operation's place", place, u64::MAX)?),
        None => (ident, None),
    };
    let seq_no = match ident.parse::<u64>() {
        Ok(seq_no) => {
            Some(seq_no).filter(|seq_no| browser.head().is_ok_and(|head| *seq_no <= head.1))
        }
        Err(_) => browser.by_hash(ident)?,
    };
    Ok(seq_no.map(|seq_no| (seq_no, place)))
}

/// Sets a parameter; returns whether it was set already.
fn replaced<T>(into: &mut Option<T>, value: Option<T>) -> bool {
    value.is_some_and(|value| into.replace(value).is_some())
}

fn filled(value: &str) -> Option<&str> {
    Some(value).filter(|value| !value.is_empty())
}

fn number(name: &str, value: &str, most: u64) -> Handled<Option<u64>> {
    if value.is_empty() {
        return Ok(None);
    }
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse::<u64>() {
        Ok(number) if digits && (1..=most).contains(&number) => Ok(Some(number)),
        _ => Err(Problem::bad_request("parameter-range")
            .with("parameter", &name)
            .with("maximum", &most)),
    }
}

fn kind(code: &str) -> Handled<Type> {
    Type::parse(code).ok_or_else(|| {
        let known: Vec<String> = Type::ALL
            .iter()
            .map(|kind| format!("{} {}", kind.code(), kind.name()))
            .collect();
        Problem::bad_request("transaction-type-unknown").with("known", &known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read_strictly_and_empty_ones_count_as_absent() {
        let asked = AskedPart::parse("page=3&page_size=7&query=a+b&type=101").unwrap();
        let page = asked.page(100);
        assert_eq!((page.page, page.size, page.text), (3, 7, Some("a b")));
        assert_eq!(page.kind, Some(Type::Schema));
        let asked = AskedPart::parse("page=&query=%20&type=").unwrap();
        let page = asked.page(100);
        assert_eq!(
            (page.page, page.size, page.text, page.kind),
            (1, 100, None, None)
        );
        for wrong in [
            "page=0",
            "page=-1",
            "page=%2B1",
            "page=1.5",
            "page_size=201",
            "page_size=x",
            "type=NYM",
            "type=2",
            "page=1&page=2",
            "txn_type=1",
        ] {
            let refused = AskedPart::parse(wrong).unwrap_err();
            assert_eq!(refused.status(), http::StatusCode::BAD_REQUEST, "{wrong}");
        }
        assert!(asks_for_validators(Some("validators=1")).unwrap());
        assert!(!asks_for_validators(Some("validators=")).unwrap());
        assert!(asks_for_validators(Some("unresponsive=1")).is_err());
    }
}
