//! A registered client, parsed once: nothing in it needs to be checked again.

mod keys;

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::Algorithm;
use selfsame_oauth::client::AuthenticationMethod;
use selfsame_oauth::grant::GrantType;
use selfsame_oauth::{Code, Error, ScopeSet};
use url::Url;

use crate::member::{algorithm, invalid, optional};
use crate::redirect::{self, ApplicationType};
use crate::registration::ClientRegistration;
use crate::rules::ProviderRules;
use crate::userinfo::UserinfoForm;

pub use keys::PartyKeys;

/// The maximum number of redirect URIs.
const MAX_REDIRECTS: usize = 20;
/// The longest name, in bytes.
const MAX_NAME: usize = 256;
/// The longest logo that is in a registration itself, in bytes of its address.
const MAX_LOGO: usize = 32 * 1024;
/// Its media types.
const LOGOS: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/svg+xml"];
/// The algorithm of ID tokens where a registration names none and RS256 is not allowed; else it is RS256 (OpenID Connect
/// Dynamic Client Registration §2).
const MODERN: Algorithm = Algorithm::Es256;

/// A registered client.
#[derive(Clone, Debug)]
pub struct RelyingParty {
    /// Its identifier.
    pub id: String,
    /// Its names by language; the key of the one without a language is empty.
    pub names: BTreeMap<String, String>,
    /// Its logo.
    pub logo_uri: Option<Url>,
    /// Its privacy policy.
    pub policy_uri: Option<Url>,
    /// Its terms of service.
    pub tos_uri: Option<Url>,
    /// How it authenticates.
    pub method: AuthenticationMethod,
    /// Its public keys.
    pub keys: PartyKeys,
    /// The grants that it may use.
    pub grants: BTreeSet<GrantType>,
    /// How subjects are made for it.
    pub subjects: SubjectRule,
    /// The algorithm of its ID tokens.
    pub id_token_alg: Algorithm,
    /// The form of userinfo.
    pub userinfo: UserinfoForm,
    /// The only algorithm of its request objects, if it named one.
    pub request_object_alg: Option<Algorithm>,
    /// Whether all its requests come as request objects.
    pub requires_request_object: bool,
    /// Whether all its requests are pushed.
    pub requires_par: bool,
    /// Whether its tokens are bound to a key.
    pub requires_dpop: bool,
    /// How old a sign-in may be, in seconds.
    pub default_max_age: Option<u64>,
    /// The classes that are demanded where a request names none.
    pub default_acr: Vec<String>,
    /// Where it is told that somebody signed out.
    pub backchannel_logout_uri: Option<Url>,
    /// The party that runs it.
    pub relying_party: String,
    application: ApplicationType,
    redirect_uris: Vec<String>,
    post_logout_redirect_uris: Vec<String>,
    scopes: Option<ScopeSet>,
    claims: Option<BTreeSet<String>>,
}

/// How the subjects of a client are made (OpenID Connect Core §8).
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SubjectRule {
    /// All clients get the same.
    Public,
    /// The clients of one sector get the same.
    Pairwise {
        /// The sector: a host.
        sector: String,
    },
}

impl RelyingParty {
    /// Parses a registration.
    ///
    /// # Errors
    /// `invalid_client_metadata` or `invalid_redirect_uri`.
    pub fn parse(
        id: &str,
        from: &ClientRegistration,
        rules: &ProviderRules,
    ) -> Result<Self, Error> {
        let application = from.application_type.unwrap_or_default();
        check_redirects(from, application, rules)?;
        let method = method(from.token_endpoint_auth_method.as_deref(), rules)?;
        let keys = PartyKeys::of(from)?;
        if method == AuthenticationMethod::PrivateKeyJwt && keys == PartyKeys::None {
            return Err(invalid("private_key_jwt needs jwks or jwks_uri"));
        }
        let subjects = subjects(from)?;
        Ok(Self {
            id: id.to_owned(),
            names: names(from)?,
            logo_uri: logo(&from.logo_uri)?,
            policy_uri: page(&from.policy_uri)?,
            tos_uri: page(&from.tos_uri)?,
            method,
            keys,
            grants: grants(from)?,
            id_token_alg: match &from.id_token_signed_response_alg {
                None if rules.algorithms.contains(&Algorithm::Rs256) => Algorithm::Rs256,
                None => MODERN,
                Some(name) => algorithm(name, rules)?,
            },
            userinfo: UserinfoForm::of(from, rules)?,
            request_object_alg: optional(&from.request_object_signing_alg, rules)?,
            requires_request_object: from.require_signed_request_object,
            requires_par: rules.requires_par || from.require_pushed_authorization_requests,
            requires_dpop: rules.requires_dpop || from.dpop_bound_access_tokens,
            default_max_age: from.default_max_age,
            default_acr: from.default_acr_values.clone(),
            backchannel_logout_uri: page(&from.backchannel_logout_uri)?,
            relying_party: relying_party(id, from, &subjects),
            subjects,
            application,
            redirect_uris: from.redirect_uris.clone(),
            post_logout_redirect_uris: from.post_logout_redirect_uris.clone(),
            scopes: from.scope.as_deref().map(ScopeSet::parse).transpose()?,
            claims: from.claims.clone().map(BTreeSet::from_iter),
        })
    }

    /// The redirect URI of a request, if it is registered; the only one if the request names none.
    pub fn redirect_uri(&self, asked: Option<&str>, rules: &ProviderRules) -> Option<String> {
        match (asked, &self.redirect_uris[..]) {
            (None, [only]) if !only.contains('*') => Some(only.clone()),
            (None, _) => None,
            (Some(asked), registered) => {
                let is_one =
                    |one: &String| redirect::matches(one, asked, self.application, rules.redirects);
                registered.iter().any(is_one).then(|| asked.to_owned())
            }
        }
    }

    /// Whether people may be sent there after they signed out.
    pub fn may_return_to(&self, asked: &str) -> bool {
        self.post_logout_redirect_uris
            .iter()
            .any(|one| one == asked)
    }

    /// Whether it may ask for this scope.
    pub fn may_ask(&self, scope: &str) -> bool {
        let allowed = self.scopes.as_ref();
        allowed.is_none_or(|allowed| allowed.has(scope))
    }

    /// Whether it may ask for this claim.
    pub fn may_know(&self, claim: &str) -> bool {
        let allowed = self.claims.as_ref();
        allowed.is_none_or(|allowed| allowed.contains(claim))
    }
}

fn check_redirects(
    from: &ClientRegistration,
    application: ApplicationType,
    rules: &ProviderRules,
) -> Result<(), Error> {
    let refuse = |reason| Err(Error::new(Code::InvalidRedirectUri, reason));
    if from.redirect_uris.is_empty() {
        return refuse("redirect_uris is missing");
    }
    let ends = &from.post_logout_redirect_uris;
    if from.redirect_uris.len() > MAX_REDIRECTS || ends.len() > MAX_REDIRECTS {
        return refuse("there are too many redirect URIs");
    }
    let mut all = from.redirect_uris.iter().chain(ends);
    all.try_for_each(|uri| redirect::check(uri, application, rules.redirects))
}

fn method(name: Option<&str>, rules: &ProviderRules) -> Result<AuthenticationMethod, Error> {
    let name = name.unwrap_or("client_secret_basic");
    let mut allowed = rules.methods.iter().copied();
    let known = allowed.find(|method| method.as_str() == name);
    known.ok_or(invalid("token_endpoint_auth_method is not allowed"))
}

fn grants(from: &ClientRegistration) -> Result<BTreeSet<GrantType>, Error> {
    let is_code = |one: &String| one == "code";
    if !from.response_types.is_empty() && !from.response_types.iter().any(is_code) {
        return Err(invalid("response_types lacks `code`"));
    }
    // A grant that is not supported is left out, as the answer to the registration tells (RFC 7591 §2).
    let known = [GrantType::AuthorizationCode, GrantType::RefreshToken];
    let named = from.grants();
    let used = known
        .into_iter()
        .filter(|one| named.contains(&one.as_str()));
    let used: BTreeSet<GrantType> = used.collect();
    match used.contains(&GrantType::AuthorizationCode) {
        true => Ok(used),
        false => Err(invalid("grant_types lacks `authorization_code`")),
    }
}

fn names(from: &ClientRegistration) -> Result<BTreeMap<String, String>, Error> {
    let tagged = from.other.iter().filter_map(|(member, name)| {
        let tag = member.strip_prefix("client_name#")?;
        Some((tag.to_owned(), name.as_str()?.to_owned()))
    });
    let plain = from.client_name.clone().map(|name| (String::new(), name));
    let names: BTreeMap<String, String> = plain.into_iter().chain(tagged).collect();
    let is_shown = |name: &String| {
        !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
    };
    match names.values().all(is_shown) {
        true => Ok(names),
        false => Err(invalid(
            "client_name is empty, too long, or has control characters",
        )),
    }
}

/// An address that people or this server go to.
fn page(uri: &Option<Url>) -> Result<Option<Url>, Error> {
    match uri {
        Some(uri) if !matches!(uri.scheme(), "https" | "http") => {
            Err(invalid("an address is not one of the web"))
        }
        uri => Ok(uri.clone()),
    }
}

/// A logo: an address of the web, or an image that is in the registration itself (RFC 2397). Pages can show the latter
/// without a call elsewhere.
fn logo(uri: &Option<Url>) -> Result<Option<Url>, Error> {
    let Some(image) = uri.as_ref().filter(|uri| uri.scheme() == "data") else {
        return page(uri);
    };
    let media = image.path().split([';', ',']).next().unwrap_or_default();
    match LOGOS.contains(&media) && image.as_str().len() <= MAX_LOGO {
        true => Ok(uri.clone()),
        false => Err(invalid(
            "the logo is no image that pages can show, or too long",
        )),
    }
}

fn subjects(from: &ClientRegistration) -> Result<SubjectRule, Error> {
    match from.subject_type.as_deref() {
        None | Some("public") => Ok(SubjectRule::Public),
        Some("pairwise") => Ok(SubjectRule::Pairwise {
            sector: sector(from)?,
        }),
        Some(_) => Err(invalid("subject_type is unknown")),
    }
}

/// OpenID Connect Core §8.1: the host of the sector identifier, or that of all redirect URIs.
fn sector(from: &ClientRegistration) -> Result<String, Error> {
    let host = |url: &Url| url.host_str().map(str::to_owned);
    if let Some(uri) = &from.sector_identifier_uri {
        let named = host(uri).filter(|_| uri.scheme() == "https");
        return named.ok_or(invalid("sector_identifier_uri is not an https address"));
    }
    let uris = from.redirect_uris.iter();
    let hosts = uris.map(|uri| Url::parse(uri).ok().as_ref().and_then(host));
    let hosts: BTreeSet<Option<String>> = hosts.collect();
    let mut hosts = hosts.into_iter();
    match (hosts.next().flatten(), hosts.next()) {
        (Some(host), None) => Ok(host),
        _ => Err(invalid(
            "redirect URIs of several hosts need sector_identifier_uri",
        )),
    }
}

fn relying_party(id: &str, from: &ClientRegistration, subjects: &SubjectRule) -> String {
    match (&from.relying_party_id, subjects) {
        (Some(named), _) => named.clone(),
        (None, SubjectRule::Pairwise { sector }) => sector.clone(),
        (None, SubjectRule::Public) => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Preset;

    const URI: &str = "https://rp.example/cb";

    fn parse(members: serde_json::Value, preset: Preset) -> Result<RelyingParty, Error> {
        let mut all = json!({"redirect_uris": [URI]});
        let members = members.as_object().unwrap().clone();
        all.as_object_mut().unwrap().extend(members);
        let registration = serde_json::from_value(all).unwrap();
        RelyingParty::parse("rp", &registration, &ProviderRules::of(preset))
    }

    #[test]
    fn a_registration_has_the_defaults_of_the_specification() {
        let party = parse(json!({}), Preset::Strict).unwrap();
        assert_eq!(party.method, AuthenticationMethod::ClientSecretBasic);
        assert_eq!(party.id_token_alg, Algorithm::Rs256);
        assert_eq!(party.subjects, SubjectRule::Public);
        assert_eq!(
            party
                .redirect_uri(None, &ProviderRules::of(Preset::Strict))
                .as_deref(),
            Some(URI)
        );
    }

    #[test]
    fn a_registration_that_the_rules_do_not_allow_is_refused() {
        for (members, preset) in [
            (
                json!({"token_endpoint_auth_method": "client_secret_jwt"}),
                Preset::Strict,
            ),
            (
                json!({"token_endpoint_auth_method": "client_secret_basic"}),
                Preset::Fapi2,
            ),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt"}),
                Preset::Strict,
            ),
            (
                json!({"id_token_signed_response_alg": "none"}),
                Preset::Strict,
            ),
            (
                json!({"id_token_signed_response_alg": "HS256"}),
                Preset::Strict,
            ),
            (json!({"response_types": ["token"]}), Preset::Strict),
            (json!({"grant_types": ["implicit"]}), Preset::Strict),
            (json!({"redirect_uris": []}), Preset::Strict),
            (json!({"subject_type": "secret"}), Preset::Strict),
            (json!({"client_name": "a\u{7}"}), Preset::Strict),
            (json!({"logo_uri": "javascript:alert(1)"}), Preset::Strict),
            (json!({"logo_uri": "data:text/html,x"}), Preset::Strict),
            (
                json!({"jwks": {"keys": []}, "jwks_uri": "https://rp.example/k"}),
                Preset::Strict,
            ),
        ] {
            assert!(parse(members.clone(), preset).is_err(), "{members}");
        }
    }

    #[test]
    fn pairwise_subjects_are_those_of_one_host() {
        let several = json!({
            "subject_type": "pairwise",
            "redirect_uris": [URI, "https://other.example/cb"]
        });
        assert!(parse(several.clone(), Preset::Strict).is_err());
        let mut named = several;
        named["sector_identifier_uri"] = json!("https://sector.example/uris");
        let sector = "sector.example".to_owned();
        let party = parse(named, Preset::Strict).unwrap();
        assert_eq!(party.subjects, SubjectRule::Pairwise { sector });
    }

    #[test]
    fn names_are_kept_by_language() {
        let party = parse(
            json!({"client_name": "A", "client_name#fr": "B"}),
            Preset::Strict,
        );
        let names = party.unwrap().names;
        assert_eq!(names.get("").map(String::as_str), Some("A"));
        assert_eq!(names.get("fr").map(String::as_str), Some("B"));
    }
}
