//! What the older versions of OrgBook's API ask for beyond version 4.

use selfsame_book::TopicKey;
use selfsame_book::number;
use selfsame_book_index::backend::AfterNumber;
use selfsame_book_index::numbers::AskedNumbers;
use selfsame_book_index::{IndexedCredential, IndexedTopic};
use selfsame_book_view::v1::{DoingBusinessAs, OrgLocation, VerifiableClaim, VerifiableOrg};
use selfsame_book_view::v2::{ExpandedCredential, NamedTopic, VerifySuccess, local_and_remote};
use selfsame_book_view::v4::{FoundTopic, ShownCredential, ShownTopic};
use selfsame_driver::{Error, Result};

use super::shapes::{self, Shapes};
use super::{HISTORY_MAX, NEIGHBOURS_MAX, SETS_MAX, Search};
use crate::books::{Book, failed};

/// The assumed names of a topic, by the types that OrgBook gives them.
const ASSUMED: [&str; 2] = ["entity_name_assumed", "doing_business_as"];

impl Book {
    /// The number of a topic, by its type and its number or name in the register that it comes from.
    #[must_use]
    pub fn number_of(kind: &str, source_id: &str) -> i64 {
        number::topic(&TopicKey {
            kind: kind.to_owned(),
            source_id: source_id.to_owned(),
        })
    }

    /// The identifier of a credential, which older clients name by its number.
    ///
    /// # Errors
    /// `NotFound`; the index's.
    pub async fn credential_named(&self, name: &str) -> Result<String> {
        let Ok(number) = name.parse::<i64>() else {
            return Ok(name.to_owned());
        };
        self.settle().await?;
        let asked = AskedNumbers {
            credentials: vec![number],
            ..AskedNumbers::default()
        };
        let held = self.index().holders(&self.name, &asked).await;
        let mut held = held.map_err(failed)?;
        let found = held.credentials.remove(&number);
        found.ok_or_else(|| Error::not_found("book-entry-unknown"))
    }

    /// The credential in force of the set of a credential.
    ///
    /// # Errors
    /// As [`Self::credential`].
    pub async fn latest(&self, credential_id: &str) -> Result<ShownCredential> {
        let own = self.indexed_credential(credential_id).await?;
        let of_set = self.index().credentials(&self.name, own.set, HISTORY_MAX);
        let of_set = of_set.await.map_err(failed)?;
        let latest = of_set.into_iter().find(|one| one.latest).unwrap_or(own);
        self.credential(&latest.credential_id).await
    }

    /// The topics that a search finds, with the numbers of topics related to them.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn topics_found(&self, search: &Search) -> Result<Vec<ShownTopic>> {
        let mut topics = Vec::new();
        for found in self.search(search).await?.results {
            topics.push(self.topic(found.id).await?);
        }
        Ok(topics)
    }

    /// A topic with its facts.
    ///
    /// # Errors
    /// `NotFound`; the index's.
    pub async fn named_topic(&self, id: i64) -> Result<NamedTopic> {
        let topic = self.topic_indexed(id).await?;
        Ok(named(&self.shapes().await?, &topic))
    }

    /// A credential with its topic and its set.
    ///
    /// # Errors
    /// As [`Self::credential`].
    pub async fn expanded(&self, credential_id: &str) -> Result<ExpandedCredential> {
        let credential = self.credential(credential_id).await?;
        let indexed = self.indexed_credential(credential_id).await?;
        let all = self.all_expanded(indexed.topic, vec![credential]).await?;
        let found = all.into_iter().next();
        found.ok_or_else(|| Error::not_found("book-entry-unknown"))
    }

    /// The credentials of a topic with it and their sets, the newest first; those of at most 100 sets.
    ///
    /// # Errors
    /// `NotFound`; the store's and the index's.
    pub async fn expanded_of(&self, topic: i64) -> Result<Vec<ExpandedCredential>> {
        let sets = self.sets(topic, None).await?;
        let credentials = sets
            .into_iter()
            .flat_map(|set| set.credentials.unwrap_or_default());
        self.all_expanded(topic, credentials.collect()).await
    }

    async fn all_expanded(
        &self,
        topic: i64,
        credentials: Vec<ShownCredential>,
    ) -> Result<Vec<ExpandedCredential>> {
        let shapes = self.shapes().await?;
        let topic = named(&shapes, &self.topic_indexed(topic).await?);
        let neighbours = self
            .index()
            .neighbours(&self.name, topic.id, NEIGHBOURS_MAX);
        let neighbours = neighbours.await.map_err(failed)?;
        let related: Vec<i64> = neighbours
            .iter()
            .filter(|one| !one.is_from_other)
            .map(|one| one.other)
            .collect();
        let related = self.topics(&related).await?;
        let related: Vec<NamedTopic> = related.iter().map(|one| named(&shapes, one)).collect();
        let page = AfterNumber {
            after: None,
            limit: SETS_MAX,
        };
        let sets = self.index().sets(&self.name, topic.id, page).await;
        let sets = sets.map_err(failed)?;
        let mut expanded = Vec::new();
        for credential in credentials {
            let indexed = self.indexed_credential(&credential.credential_id).await?;
            let [local_name, remote_name] = local_and_remote(&credential.names);
            expanded.push(ExpandedCredential {
                local_name: local_name.or_else(|| topic.local_name.clone()),
                remote_name: remote_name.or_else(|| topic.remote_name.clone()),
                credential_set: sets
                    .iter()
                    .find(|set| set.id == indexed.set)
                    .map(shapes::set),
                credential,
                topic: topic.clone(),
                related_topics: related.clone(),
            });
        }
        Ok(expanded)
    }

    /// Whether a credential is valid now, as older clients ask.
    ///
    /// # Errors
    /// As [`Self::verify`].
    pub async fn verified(&self, credential_id: &str) -> Result<VerifySuccess> {
        let result = self.verify(credential_id).await?;
        let is_valid = |verdict: &selfsame_book_view::EntryVerdict| verdict.outcome == "valid";
        Ok(VerifySuccess {
            success: result.verdict.as_ref().is_some_and(is_valid),
            result,
        })
    }

    /// The topics of a page of a search, as organisations.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub async fn organisations(&self, search: &Search) -> Result<Vec<VerifiableOrg>> {
        let found = self.search(search).await?.results;
        Ok(found.iter().map(organisation).collect())
    }

    /// A topic as an organisation.
    ///
    /// # Errors
    /// `NotFound`; the index's.
    pub async fn organisation(&self, id: i64) -> Result<VerifiableOrg> {
        Ok(organisation(&self.found(id).await?))
    }

    /// The credentials of a topic as claims; those of at most 100 sets.
    ///
    /// # Errors
    /// As [`Self::sets`].
    pub async fn claims_of(&self, topic: i64) -> Result<Vec<VerifiableClaim>> {
        let sets = self.sets(topic, None).await?;
        let credentials = sets
            .into_iter()
            .flat_map(|set| set.credentials.unwrap_or_default());
        let claims = credentials.map(|one| VerifiableClaim {
            id: one.id,
            verifiable_org_id: topic,
            claim_type: one.credential_type.id,
            claim_json: serde_json::Value::Object(one.raw_data).to_string(),
            effective_date: one.effective_date,
            end_date: one.revoked_date,
            inactive_claim_reason_id: None,
        });
        Ok(claims.collect())
    }

    /// The addresses of a topic as places.
    ///
    /// # Errors
    /// `NotFound`; the index's.
    pub async fn locations_of(&self, topic: i64) -> Result<Vec<OrgLocation>> {
        let addresses = self.found(topic).await?.addresses.into_iter();
        let places = addresses.map(|one| OrgLocation {
            id: one.id,
            verifiable_org_id: topic,
            doing_business_as_id: None,
            location_type_id: None,
            addressee: one.addressee,
            addl_delivery_info: None,
            unit_number: None,
            street_address: one.civic_address,
            municipality: one.city,
            province: one.province,
            postal_code: one.postal_code,
            lat_long: None,
        });
        Ok(places.collect())
    }

    /// The assumed names of a topic.
    ///
    /// # Errors
    /// `NotFound`; the index's.
    pub async fn assumed_names_of(&self, topic: i64) -> Result<Vec<DoingBusinessAs>> {
        let names = self.found(topic).await?.names.into_iter();
        let assumed = names.filter(|name| ASSUMED.contains(&name.kind.as_str()));
        let assumed = assumed.map(|name| DoingBusinessAs {
            id: name.id,
            verifiable_org_id: topic,
            dba_name: name.text,
        });
        Ok(assumed.collect())
    }

    async fn indexed_credential(&self, credential_id: &str) -> Result<IndexedCredential> {
        let found = self.index().credential(&self.name, credential_id).await;
        let found = found.map_err(failed)?;
        found.ok_or_else(|| Error::not_found("book-entry-unknown"))
    }
}

fn named(shapes: &Shapes, topic: &IndexedTopic) -> NamedTopic {
    let found = shapes.found(topic);
    let [local_name, remote_name] = local_and_remote(&found.names);
    NamedTopic {
        id: found.id,
        create_timestamp: shapes::time(topic.created),
        update_timestamp: shapes::time(topic.updated),
        source_id: found.source_id,
        kind: found.kind,
        names: found.names,
        local_name,
        remote_name,
        addresses: found.addresses,
        attributes: found.attributes,
    }
}

fn organisation(topic: &FoundTopic) -> VerifiableOrg {
    let name = topic
        .names
        .first()
        .map_or(&topic.source_id, |name| &name.text);
    VerifiableOrg {
        id: topic.id,
        org_id: topic.source_id.clone(),
        org_type_id: None,
        jurisdiction_id: None,
        legal_name: name.clone(),
        effective_date: topic.effective_date.clone(),
        end_date: topic.revoked_date.clone(),
    }
}
