//! The organisations of an instance: the tenants that hold their records, and the issuer's identifier.

use selfsame_store::TenantId;
use url::Url;

/// The tenant of the issuer.
pub(crate) fn issuer() -> TenantId {
    tenant("issuer")
}

/// The tenant of the verifier.
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
