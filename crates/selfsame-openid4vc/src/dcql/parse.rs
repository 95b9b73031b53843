//! Reads a DCQL query and refuses what breaks a rule of OpenID4VP 1.0 §6 or exceeds a limit.

use std::collections::BTreeSet;

use selfsame_credential::{
    ClaimPath, Format,
    format::Profile,
    path::{PathError, Segment},
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{
    fault::{DcqlError, Fault},
    query::{
        ClaimQuery, ClaimValue, CredentialQuery, CredentialSet, DcqlQuery, Meta, TrustedAuthority,
    },
    reader::QueryReader,
};

const MAX_CREDENTIALS: usize = 64;
const MAX_CLAIMS: usize = 128;
/// Maximum for all credential queries together.
const MAX_ALL_CLAIMS: usize = 1_024;
const MAX_CLAIM_SETS: usize = 64;
const MAX_CREDENTIAL_SETS: usize = 32;
const MAX_OPTIONS: usize = 64;
const MAX_VALUES: usize = 128;
const MAX_AUTHORITIES: usize = 32;
const MAX_ID: usize = 128;
/// Maximum for all names of a path together, in bytes.
const MAX_PATH: usize = 1_024;

impl DcqlQuery {
    /// Parses a query. Unknown members are ignored (OpenID4VP 1.0 §6); everything else is checked strictly.
    pub fn parse(value: &Value) -> Result<Self, DcqlError> {
        query(value)
    }
}

impl<'de> Deserialize<'de> for DcqlQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::parse(&value).map_err(serde::de::Error::custom)
    }
}

fn query(value: &Value) -> Result<DcqlQuery, DcqlError> {
    let root = QueryReader::root(value);
    let list = root.required("credentials")?;
    let mut ids = BTreeSet::new();
    let mut claims = 0_usize;
    let mut credentials = Vec::new();
    for element in list.elements(MAX_CREDENTIALS)? {
        let query = credential(&element, &mut ids)?;
        claims = claims.saturating_add(query.claims.len());
        if claims > MAX_ALL_CLAIMS {
            return Err(list.fault(Fault::TooMany(MAX_ALL_CLAIMS)));
        }
        credentials.push(query);
    }
    let credential_sets = match root.member("credential_sets")? {
        None => Vec::new(),
        Some(sets) => sets
            .elements(MAX_CREDENTIAL_SETS)?
            .iter()
            .map(|set| credential_set(set, &ids))
            .collect::<Result<_, _>>()?,
    };
    Ok(DcqlQuery {
        credentials,
        credential_sets,
    })
}

fn credential(at: &QueryReader, ids: &mut BTreeSet<String>) -> Result<CredentialQuery, DcqlError> {
    let id = unique(&at.required("id")?, ids)?;
    let format = at.required("format")?.string()?;
    let meta = meta(&at.required("meta")?, &format)?;
    let trusted_authorities = match at.member("trusted_authorities")? {
        None => Vec::new(),
        Some(list) => list
            .elements(MAX_AUTHORITIES)?
            .iter()
            .map(authority)
            .collect::<Result<_, _>>()?,
    };
    let mut claim_ids = BTreeSet::new();
    let claims = claims(at, &meta, &mut claim_ids)?;
    let claim_sets = claim_sets(at, &claims, &claim_ids)?;
    Ok(CredentialQuery {
        id,
        format,
        multiple: flag(at, "multiple", false)?,
        meta,
        trusted_authorities,
        require_cryptographic_holder_binding: flag(
            at,
            "require_cryptographic_holder_binding",
            true,
        )?,
        claims,
        claim_sets,
    })
}

/// The requested types. §6.1 allows an empty `meta`, Appendix B requires the member of each format. A query for any
/// credential at all would let a verifier probe a wallet, so the stricter rule is applied.
fn meta(at: &QueryReader, format: &str) -> Result<Meta, DcqlError> {
    at.object()?;
    let known = format.parse::<Format>().ok();
    match known.map(|format| format.describe().profile) {
        Some(Profile::SdJwtVc) => Ok(Meta::SdJwtVc {
            vct_values: at.required("vct_values")?.strings(MAX_VALUES)?,
        }),
        Some(Profile::W3c | Profile::DataIntegrity) => Ok(Meta::W3c {
            type_values: at
                .required("type_values")?
                .elements(MAX_VALUES)?
                .iter()
                .map(|types| types.strings(MAX_VALUES))
                .collect::<Result<_, _>>()?,
        }),
        Some(Profile::Mdoc) => Ok(Meta::Mdoc {
            doctype_value: at.required("doctype_value")?.string()?,
        }),
        // No query asks for what only machines have.
        Some(Profile::Compact) | None => Ok(Meta::Other(at.value().clone())),
    }
}

fn authority(at: &QueryReader) -> Result<TrustedAuthority, DcqlError> {
    Ok(TrustedAuthority {
        kind: at.required("type")?.string()?,
        values: at.required("values")?.strings(MAX_VALUES)?,
    })
}

fn claims(
    at: &QueryReader,
    meta: &Meta,
    ids: &mut BTreeSet<String>,
) -> Result<Vec<ClaimQuery>, DcqlError> {
    let Some(list) = at.member("claims")? else {
        return Ok(Vec::new());
    };
    let ids_wanted = at.member("claim_sets")?.is_some();
    let mut claims = Vec::new();
    for element in list.elements(MAX_CLAIMS)? {
        let id = match element.member("id")? {
            Some(id) => Some(unique(&id, ids)?),
            // §6.3: REQUIRED if `claim_sets` is present.
            None if ids_wanted => return Err(element.fault(Fault::Missing("id"))),
            None => None,
        };
        claims.push(ClaimQuery {
            id,
            path: path(&element.required("path")?, meta)?,
            // §B.2.4: other formats have no such member.
            intent_to_retain: match meta {
                Meta::Mdoc { .. } => flag(&element, "intent_to_retain", false)?,
                _ => false,
            },
            values: match element.member("values")? {
                None => Vec::new(),
                Some(values) => values
                    .elements(MAX_VALUES)?
                    .iter()
                    .map(claim_value)
                    .collect::<Result<_, _>>()?,
            },
        });
    }
    Ok(claims)
}

fn path(at: &QueryReader, meta: &Meta) -> Result<ClaimPath, DcqlError> {
    let path = ClaimPath::parse(at.value()).map_err(|PathError| at.fault(Fault::Path))?;
    let name = |segment: &Segment| match segment {
        Segment::Name(name) => name.len(),
        Segment::Index(_) | Segment::All => 0,
    };
    if path.segments().iter().map(name).sum::<usize>() > MAX_PATH {
        return Err(at.fault(Fault::TooLong(MAX_PATH)));
    }
    // §7.2: in an mdoc, a namespace and an element identifier.
    let mdoc = matches!(path.segments(), [Segment::Name(_), Segment::Name(_)]);
    match meta {
        Meta::Mdoc { .. } if !mdoc => Err(at.fault(Fault::Path)),
        _ => Ok(path),
    }
}

fn claim_value(at: &QueryReader) -> Result<ClaimValue, DcqlError> {
    match at.value() {
        Value::String(text) if text.is_empty() => Ok(ClaimValue::Text(String::new())),
        Value::String(_) => at.string().map(ClaimValue::Text),
        Value::Bool(truth) => Ok(ClaimValue::Boolean(*truth)),
        Value::Number(number) if number.is_i64() || number.is_u64() => {
            Ok(ClaimValue::Integer(number.clone()))
        }
        _ => Err(at.fault(Fault::Wanted("a string, an integer or a boolean"))),
    }
}

fn claim_sets(
    at: &QueryReader,
    claims: &[ClaimQuery],
    ids: &BTreeSet<String>,
) -> Result<Vec<Vec<String>>, DcqlError> {
    let Some(list) = at.member("claim_sets")? else {
        return Ok(Vec::new());
    };
    if claims.is_empty() {
        return Err(list.fault(Fault::SetsWithoutClaims));
    }
    list.elements(MAX_CLAIM_SETS)?
        .iter()
        .map(|set| references(set, ids, MAX_CLAIMS))
        .collect()
}

fn credential_set(at: &QueryReader, ids: &BTreeSet<String>) -> Result<CredentialSet, DcqlError> {
    Ok(CredentialSet {
        options: at
            .required("options")?
            .elements(MAX_OPTIONS)?
            .iter()
            .map(|option| references(option, ids, MAX_CREDENTIALS))
            .collect::<Result<_, _>>()?,
        required: flag(at, "required", true)?,
    })
}

/// A non-empty list of identifiers, each of an existing element.
fn references(
    at: &QueryReader,
    ids: &BTreeSet<String>,
    most: usize,
) -> Result<Vec<String>, DcqlError> {
    let reference = |element: &QueryReader| {
        let id = element.string()?;
        if ids.contains(&id) {
            Ok(id)
        } else {
            Err(element.fault(Fault::Unknown))
        }
    };
    at.elements(most)?.iter().map(reference).collect()
}

/// A new identifier: letters, digits, `_` and `-` (OpenID4VP 1.0 §6.1, §6.3).
fn unique(at: &QueryReader, ids: &mut BTreeSet<String>) -> Result<String, DcqlError> {
    let id = at.string()?;
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if id.len() > MAX_ID || !id.bytes().all(allowed) {
        return Err(at.fault(Fault::Identifier));
    }
    if !ids.insert(id.clone()) {
        return Err(at.fault(Fault::Duplicate));
    }
    Ok(id)
}

fn flag(at: &QueryReader, name: &str, default: bool) -> Result<bool, DcqlError> {
    at.member(name)?.map_or(Ok(default), |flag| flag.boolean())
}
