//! Cards: the credentials a person holds, how they look, and their current status.

mod groups;
mod lines;
pub(crate) mod search;
mod standing;
pub(crate) mod tags;
pub(crate) mod upgrade;

use selfsame_credential::path::Segment;
use selfsame_credential::single_use::{HANDLE, Reference};
use selfsame_credential::verdict::{Policy, Trust};
use selfsame_credential::{ClaimPath, Format, Held};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::Chain;
use selfsame_crypto::{KeyHandle, encoding};
use selfsame_did::Did;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_openid4vc::wallet::ReceivedCredential;
use selfsame_openid4vc::wire::metadata::{
    ClaimDescription, Configuration, Display as MetadataDisplay, IssuerMetadata,
};
use selfsame_store::{Batch, Put, Record, TenantId};
use selfsame_types::samples;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Wallet;
use crate::view::{CardSummary, ClaimLine, Display, MemberLabel, NamedValue, NamedValues, Person};
use selfsame_core::Shared;
use selfsame_core::registry::UseKey;
use selfsame_core::view::readable;

/// The kind of the records that hold cards.
pub(super) const CARD: &str = "card";
const LABEL_MAX: usize = 120;
/// Maximum number of claims with a label, and of claims with named values.
const LABELS_MAX: usize = 100;
/// Maximum size of a stored credential, in bytes: one with a portrait of 90 kB. A wallet reads hundreds at once.
pub(super) const CARD_BYTES_MAX: usize = 128 << 10;
/// Maximum number of values of a claim that are named.
const VALUES_MAX: usize = 200;
/// Maximum number of bytes of the address of a logo.
const LOGO_ADDRESS_MAX: usize = 500;
/// Seconds by which an issuer's clock may be ahead.
const LEEWAY: u64 = 60;

/// A card as it is stored.
#[derive(Clone, Deserialize, Serialize)]
pub(super) struct CardRecord {
    #[serde(skip)]
    pub id: String,
    pub format: Format,
    pub raw: String,
    pub key: Option<KeyHandle>,
    pub kid: Option<String>,
    pub issuer: String,
    pub types: Vec<String>,
    pub look: Look,
    pub added: UnixTime,
    pub expires: Option<UnixTime>,
    /// The types under which queries look for it, beside `types`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked_types: Vec<String>,
    /// The authority key identifiers of the certificates that came with it, in base64url.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub authorities: Vec<String>,
    /// Its status when it was last checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
}

/// The look of a card, from its issuer's metadata at the time it was received.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Look {
    title: String,
    color: Option<String>,
    #[serde(default)]
    text_color: Option<String>,
    #[serde(default)]
    logo: Option<String>,
    /// The pictogram that its logo is, by the logo's text alternative.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// The issuer's own name for itself.
    #[serde(default)]
    pub issuer_name: Option<String>,
    /// Paths of claims with their labels.
    pub labels: Vec<(ClaimPath, String)>,
    /// Claims with the names of their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<NamedValues>,
}

impl Look {
    /// The look that a configuration describes; texts are cut to length, colours checked, links ignored.
    pub fn of(configuration: &Configuration) -> Self {
        let Some(metadata) = &configuration.credential_metadata else {
            return Self::default();
        };
        let display = MetadataDisplay::read(&metadata.display);
        let logo = display.and_then(|display| display.logo.as_ref());
        Self {
            title: display
                .and_then(|display| display.name.as_deref())
                .map(short)
                .unwrap_or_default(),
            color: display
                .and_then(|display| display.background_color.clone())
                .filter(|color| is_color(color)),
            text_color: display
                .and_then(|display| display.text_color.clone())
                .filter(|color| is_color(color)),
            icon: logo
                .and_then(|logo| logo.alt_text.clone())
                .filter(|text| is_pictogram(text)),
            logo: logo
                .map(|logo| logo.uri.clone())
                .filter(|uri| uri.len() <= LOGO_ADDRESS_MAX && uri.starts_with("http")),
            issuer_name: None,
            labels: metadata
                .claims
                .iter()
                .filter_map(|claim| {
                    let name = MetadataDisplay::read(&claim.display)?.name.as_deref()?;
                    Some((claim.path.clone(), short(name)))
                })
                .take(LABELS_MAX)
                .collect(),
            values: metadata
                .claims
                .iter()
                .filter_map(named_values)
                .take(LABELS_MAX)
                .collect(),
        }
    }

    /// The look as it came from elsewhere, within the same limits as one from an issuer's metadata.
    pub fn checked(self) -> Self {
        let link = |uri: &String| uri.len() <= LOGO_ADDRESS_MAX && uri.starts_with("http");
        let labels = self.labels.into_iter().take(LABELS_MAX);
        let values = self.values.into_iter().take(LABELS_MAX);
        Self {
            title: short(&self.title),
            color: self.color.filter(|color| is_color(color)),
            text_color: self.text_color.filter(|color| is_color(color)),
            logo: self.logo.filter(link),
            icon: self.icon.filter(|text| is_pictogram(text)),
            issuer_name: self.issuer_name.as_deref().map(short),
            labels: labels.map(|(path, label)| (path, short(&label))).collect(),
            values: values.map(within_limits).collect(),
        }
    }

    /// With the name that the issuer gives itself.
    pub fn by(mut self, issuer: &IssuerMetadata) -> Self {
        let name = MetadataDisplay::read(&issuer.display).and_then(|one| one.name.as_deref());
        self.issuer_name = name.map(short).filter(|name| !name.is_empty());
        self
    }

    /// The look for people of a card with these types. A pictogram at the start of the title becomes the icon; the
    /// samples have their own.
    pub fn display(&self, types: &[String]) -> Display {
        let mut words = self.title.splitn(2, ' ');
        let first = words.next().unwrap_or_default();
        let is_picture = is_pictogram(first);
        let (icon, title) = match words.next() {
            Some(rest) if is_picture => (Some(first.to_owned()), rest.to_owned()),
            _ => (None, self.title.clone()),
        };
        Display {
            title,
            color: self.color.clone(),
            text_color: self.text_color.clone(),
            // A pictogram needs no image.
            logo: self.logo.clone().filter(|_| self.icon.is_none()),
            icon: icon
                .or_else(|| self.icon.clone())
                .or_else(|| samples::icon(types).map(str::to_owned)),
        }
    }

    /// The paths with a label that are not within another one: lines of their own.
    pub fn lines(&self) -> impl Iterator<Item = &ClaimPath> {
        let paths = || self.labels.iter().map(|(path, _)| path);
        paths().filter(move |path| !paths().any(|around| rest(path, around).is_some()))
    }

    /// The labels of what is within the claim at this path.
    fn members(&self, path: &ClaimPath) -> Vec<MemberLabel> {
        let within = self.labels.iter().filter_map(|(below, label)| {
            let rest = rest(below, path)?;
            let rest = rest.strip_prefix(&[Segment::All]).unwrap_or(rest);
            let name = |segment: &Segment| match segment {
                Segment::Name(name) => Some(name.clone()),
                Segment::Index(_) | Segment::All => None,
            };
            let path: Vec<String> = rest.iter().map(name).collect::<Option<_>>()?;
            let label = label.clone();
            (!path.is_empty()).then_some(MemberLabel { path, label })
        });
        within.collect()
    }

    /// The line of the value at this path, in the issuer's words for it.
    fn in_words(&self, path: &ClaimPath, value: &Value, line: ClaimLine) -> ClaimLine {
        if self.values.is_empty() {
            return line;
        }
        let mut named = value.clone();
        for values in &self.values {
            values.put_into(path.segments(), &mut named);
        }
        match named == *value {
            true => line,
            false => line.in_words(&named, &self.members(path)),
        }
    }

    /// The label of the claim at this path.
    pub fn label(&self, path: &ClaimPath) -> String {
        if is_handle(path) {
            return "Single use".to_owned();
        }
        self.labels
            .iter()
            .find(|(known, _)| known == path)
            .map_or_else(|| path.to_string(), |(_, label)| label.clone())
    }
}

/// The credential of a card as text, and its issuer.
pub struct RawCard {
    /// Its format.
    pub format: Format,
    /// The credential, as its issuer signed it.
    pub raw: String,
    /// Its issuer, which not every credential names.
    pub issuer: String,
}

impl CardRecord {
    /// The card of a received credential.
    pub fn of(
        credential: ReceivedCredential,
        look: Look,
        held: &Held,
        ctx: &Ctx,
        number: usize,
    ) -> Self {
        Self {
            id: encoding::base64url_encode(&ctx.random::<16>(&format!("card/{number}"))),
            added: ctx.now(),
            ..Self::made(credential, look, held)
        }
    }

    /// The card of a credential, without an id and a time.
    pub fn made(credential: ReceivedCredential, mut look: Look, held: &Held) -> Self {
        let types: Vec<String> = held.types().into_iter().map(str::to_owned).collect();
        if look.title.is_empty() {
            look.title = types.last().map(|name| short(name)).unwrap_or_default();
        }
        Self {
            id: String::new(),
            format: credential.format,
            issuer: match (held.issuer(), credential.issuer) {
                (Some(named), _) => named.to_owned(),
                (None, Some(told)) => told,
                (None, None) => by_certificate(held),
            },
            expires: held.expires(),
            asked_types: tags::asked_types(held),
            authorities: tags::authorities(held),
            raw: credential.raw,
            key: credential.key,
            kid: credential.kid,
            types,
            look,
            added: UnixTime(0),
            seen: None,
        }
    }

    /// Reads a card from its record.
    pub fn read(record: &Record) -> Result<Self> {
        let mut card: Self = decode(&record.value)?;
        card.id = record.id.clone();
        Ok(card)
    }

    /// Parses the credential of the card.
    pub fn held(&self) -> Result<Held> {
        Held::parse(&self.raw, self.format).map_err(Error::internal)
    }

    /// The record for the store with all its tags, the note of it for the index, and the card's summary.
    pub fn into_put(self) -> Result<(Put, Put, CardSummary)> {
        let note = selfsame_card_index::note(&self.id)?;
        Ok((self.put()?, note, self.summary(self.added)))
    }

    fn put(&self) -> Result<Put> {
        let put = Put::new(CARD, &self.id, encode(self)?);
        Ok(self.tags().into_iter().fold(put, Put::tag))
    }

    /// A short form of the card, at this time. Nothing is fetched for it.
    pub fn summary(&self, now: UnixTime) -> CardSummary {
        let is_over = self.expires.is_some_and(|expires| expires <= now);
        CardSummary {
            id: self.id.clone(),
            display: self.look.display(&self.types),
            issuer: self.issuer.clone(),
            issuer_name: self.look.issuer_name.clone(),
            format: self.format.as_str().to_owned(),
            types: self.types.clone(),
            added: self.added.rfc3339(),
            expires: self.expires.map(UnixTime::rfc3339),
            status: match is_over {
                true => Some("expired".to_owned()),
                false => self.seen.clone(),
            },
        }
    }

    /// The claims at these paths, as lines for people.
    pub fn lines(&self, held: &Held, paths: &[ClaimPath]) -> Vec<ClaimLine> {
        paths
            .iter()
            .flat_map(|path| {
                let values = path.select(held.claims());
                values
                    .into_iter()
                    .map(|value| self.line(path, value))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    pub(super) fn line(&self, path: &ClaimPath, value: &Value) -> ClaimLine {
        let label = self.look.label(path);
        let line = match is_handle(path) {
            true => ClaimLine::of(&label, &"anyone you show this to can use it".into(), &[]),
            false => self.look.in_words(
                path,
                value,
                ClaimLine::of(&label, value, &self.look.members(path)),
            ),
        };
        line.at(path.to_value().as_array().cloned().unwrap_or_default())
    }
}

impl Wallet {
    /// A person's cards, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn cards(&self, person: &Person, paging: &Paging) -> Result<Listing<CardSummary>> {
        let store = &self.shared.store;
        let records = store.list(&person.tenant, CARD, &page(paging)).await?;
        let now = self.shared.clock.now();
        let mut cards = listing(&records, paging, |record| {
            Ok(CardRecord::read(record)?.summary(now))
        })?;
        for card in &mut cards.items {
            self.show_here(&mut card.display).await?;
        }
        Ok(cards)
    }

    /// Deletes a card for good, and the key that was created for it.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_card(&self, person: &Person, id: &str) -> Result<()> {
        let card = self.card_record(person, id).await?;
        let mut batch = Batch::new(person.tenant.clone()).delete(CARD, id);
        batch = batch.put(selfsame_card_index::note(id)?);
        let own_key = match card.key {
            // A key that the person did not create was created for this card alone.
            Some(key) if !self.is_named(&person.tenant, &key).await? => Some(key),
            _ => None,
        };
        if let Some(key) = &own_key {
            batch = batch.delete(selfsame_driver::keys::KIND, key.as_str());
        }
        self.shared.store.commit(batch).await?;
        if let Some(key) = &own_key {
            self.shared.keys.forget(&person.tenant, key);
        }
        // So that notes of cards that are gone do not gather.
        if let Err(error) = self.card_index().work_off_notes(&person.tenant).await {
            tracing::warn!(%error, "the index of cards waits");
        }
        Ok(())
    }

    /// A card's credential as its issuer sent it, with its format.
    pub async fn raw_card(&self, tenant: &TenantId, id: &str) -> Result<RawCard> {
        let record = self.shared.store.read(tenant, CARD, id).await?;
        let record = record.ok_or_else(|| Error::not_found("credential-unknown"))?;
        let card = CardRecord::read(&record)?;
        Ok(RawCard {
            format: card.format,
            raw: card.raw,
            issuer: card.issuer,
        })
    }

    pub(super) async fn card_record(&self, person: &Person, id: &str) -> Result<CardRecord> {
        let record = self.shared.store.read(&person.tenant, CARD, id).await?;
        CardRecord::read(&record.ok_or_else(|| Error::not_found("card-unknown"))?)
    }
}

/// The policy for credentials in a wallet. It accepts any issuer, since trust is the person's decision.
pub(super) fn policy(shared: &Shared) -> Policy {
    Policy {
        trusted_issuers: Trust::Any,
        trust_anchors: shared.trust.now().anchors.clone(),
        accept_did_issuers: true,
        leeway: LEEWAY,
        ..Policy::default()
    }
}

/// The issuer of a credential that names none: the subject of its certificate (SD-JWT VC §2.5), in the form used in
/// lists of trusted issuers.
fn by_certificate(held: &Held) -> String {
    let x5c = held.header().x5c.as_deref();
    let Some(chain) = x5c.and_then(|x5c| Chain::parse(x5c).ok()) else {
        return String::new();
    };
    match chain.dns_name() {
        Some(name) => format!("x509_san_dns:{name}"),
        None => format!(
            "x509_hash:{}",
            encoding::base64url_encode(&chain.leaf_sha256())
        ),
    }
}

/// The issuer of a single-use credential, and the digest that its handle is registered under.
pub(super) fn single_use(held: &Held) -> Option<UseKey> {
    held.sd_jwt()?;
    let reference = Reference::in_payload(held.claims()).ok().flatten()?;
    let issuer = Did::parse(held.issuer()?).ok()?;
    Some(UseKey {
        issuer,
        digest: reference.digest,
    })
}

/// The steps by which a path goes on beyond another one; `None` if it does not.
fn rest<'a>(path: &'a ClaimPath, around: &ClaimPath) -> Option<&'a [Segment]> {
    let rest = path.segments().strip_prefix(around.segments())?;
    (!rest.is_empty()).then_some(rest)
}

pub(crate) fn is_handle(path: &ClaimPath) -> bool {
    matches!(path.segments(), [Segment::Name(name)] if name == HANDLE)
}

/// The values of a claim with their names, if it has some.
fn named_values(claim: &ClaimDescription) -> Option<NamedValues> {
    let named = claim.values.iter().filter_map(|one| {
        let name = MetadataDisplay::read(&one.display)?.name.as_deref()?;
        Some(NamedValue {
            value: one.value.clone(),
            name: short(name),
        })
    });
    let values: Vec<NamedValue> = named.take(VALUES_MAX).collect();
    let path = claim.path.clone();
    (!values.is_empty()).then_some(NamedValues { path, values })
}

/// The values of a claim that was described elsewhere, within the same limits.
fn within_limits(described: NamedValues) -> NamedValues {
    let named = described.values.into_iter().take(VALUES_MAX);
    let named = named.map(|one| NamedValue {
        name: short(&one.name),
        ..one
    });
    NamedValues {
        path: described.path,
        values: named.collect(),
    }
}

/// Whether a text is a picture, such as an emoji, and no word.
fn is_pictogram(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii() || c.is_alphabetic() || c.is_control();
    !text.is_empty() && text.chars().count() <= 8 && !text.chars().any(is_letter)
}

/// A text of an issuer, as it is shown.
pub(crate) fn short(text: &str) -> String {
    readable(text)
        .chars()
        .filter(|c| !c.is_control())
        .take(LABEL_MAX)
        .collect()
}

/// `#rgb` or `#rrggbb`; all other CSS colours are refused.
fn is_color(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An SD-JWT VC with an invalid signature.
    pub(super) fn held(header: &Value, claims: &Value) -> Held {
        let mut all = json!({"alg": "ES256", "typ": "dc+sd-jwt"});
        let mut payload = json!({"vct": "urn:x"});
        for (into, from) in [(&mut all, header), (&mut payload, claims)] {
            let from = from.as_object().unwrap().clone();
            into.as_object_mut().unwrap().extend(from);
        }
        let jwt = selfsame_crypto::jws::Unsigned::new(&all, &payload).finish(&[1; 64]);
        Held::parse(&format!("{jwt}~"), Format::SdJwtVc).unwrap()
    }

    #[test]
    fn a_card_that_names_no_issuer_is_by_the_subject_of_its_certificate() {
        let certified = |names: &[&str]| {
            let key = rcgen::KeyPair::generate().unwrap();
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let params = rcgen::CertificateParams::new(names).unwrap();
            params.self_signed(&key).unwrap().der().to_vec()
        };
        let by = |der: &[u8]| {
            let header = json!({"x5c": [encoding::base64_encode(der)]});
            by_certificate(&held(&header, &json!({})))
        };
        let named = certified(&["issuer.example", "other.example"]);
        assert_eq!(by(&named), "x509_san_dns:issuer.example");
        assert!(by(&certified(&[])).starts_with("x509_hash:"));
    }

    fn look_of(metadata: Value) -> Look {
        let configuration = json!({
            "format": "dc+sd-jwt", "vct": "urn:x", "credential_metadata": metadata,
        });
        Look::of(&serde_json::from_value(configuration).unwrap())
    }

    #[test]
    fn a_card_has_its_issuers_words_in_english_and_the_pictogram_that_is_its_logo() {
        let logo = json!({"uri": "https://club.example/types/card/1/logo", "alt_text": "🎫"});
        let look = look_of(json!({
            "display": [
                {"name": "Karte", "locale": "de"},
                {"name": "Card", "locale": "en-GB", "logo": logo},
            ],
            "claims": [{
                "path": ["level"],
                "display": [{"name": "Stufe", "locale": "de"}, {"name": "Level", "locale": "en"}],
                "values": [
                    {"value": "basic", "display": [{"name": "Basic membership", "locale": "en"}]},
                    {"value": "full"},
                ],
            }],
        }));
        let display = look.display(&[]);
        assert_eq!(
            (&*display.title, display.icon.as_deref()),
            ("Card", Some("🎫"))
        );
        assert_eq!(display.logo, None);
        let path = ClaimPath::of_names(["level"]).unwrap();
        let line = |value: &str| {
            let value = json!(value);
            look.in_words(
                &path,
                &value,
                ClaimLine::of(&look.label(&path), &value, &[]),
            )
        };
        let basic = line("basic");
        assert_eq!((&*basic.label, &*basic.value), ("Level", "basic"));
        assert_eq!(basic.in_full(), "Basic membership (basic)");
        assert_eq!(line("full").words, None);
        let plain = json!({"uri": "https://club.example/logo.png", "alt_text": "A bird"});
        let plain = look_of(json!({"display": [{"name": "Card", "logo": plain}]}));
        let display = plain.display(&[]);
        assert!(display.icon.is_none() && display.logo.is_some());
    }

    #[test]
    fn what_an_issuer_calls_things_turns_no_text_round_and_keeps_its_own_script() {
        assert_eq!(short("Pass\u{202e}port\u{2066}\u{200f}\n"), "Passport");
        assert_eq!(short("كرت 👩\u{200d}⚕️"), "كرت 👩\u{200d}⚕️");
    }

    #[test]
    fn a_claim_is_shown_without_what_turns_text_round_and_kept_as_it_is() {
        let value = json!(["a\u{202e}b", {"c\u{2067}": "d\ne"}]);
        assert_eq!(ClaimLine::of("x", &value, &[]).value, "ab, c: d\ne");
        assert_eq!(value[0], "a\u{202e}b");
    }
}
