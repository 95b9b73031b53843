//! The organisations of an instance: under which tenant each keeps its records, and how it is named.

use selfsame_store::TenantId;
use url::Url;

/// The organisation that issues.
pub(crate) fn issuer() -> TenantId {
    tenant("issuer")
}

/// The organisation that asks.
pub(crate) fn verifier() -> TenantId {
    tenant("verifier")
}

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap_or_else(|_| TenantId::instance())
}

/// The issuer's identifier in OpenID4VCI.
pub(crate) fn issuer_identifier(origin: &Url) -> String {
    format!("{}issuer", origin.as_str())
}
