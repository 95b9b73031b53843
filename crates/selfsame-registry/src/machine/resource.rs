//! Reads resources: by UUID, or by name and type.

use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;

use crate::history::History;
use crate::identifier::Identifier;
use crate::resource::{LinkedResource, PublishedResource, ResourceId, ResourceName, VersionLink};
use crate::state::{StateError, StateKey, StateRead, read};

use super::StateMachine;

impl StateMachine {
    /// The resource of a UUID in a DID's collection.
    pub fn resource(
        &self,
        state: &dyn StateRead,
        did: &Did,
        id: ResourceId,
    ) -> Result<Option<LinkedResource>, StateError> {
        let Some(owner) = Identifier::of_did(did, self.network()) else {
            return Ok(None);
        };
        let state = self.begun(state);
        let key = StateKey::Resource(owner, id);
        let Some(published) = read::<PublishedResource>(&state, &key)? else {
            return Ok(None);
        };
        let resource = &published.resource;
        let versions = StateKey::ResourceName(owner, &resource.name, &resource.kind);
        let versions = History::<VersionLink>::new(&state, versions);
        let next = match versions.count()? > published.number {
            true => Some(versions.version(published.number.saturating_add(1))?.id),
            false => None,
        };
        Ok(Some(LinkedResource { published, next }))
    }

    /// The version of a name and type that is present now, or was present at a time.
    pub fn resource_named(
        &self,
        state: &dyn StateRead,
        name: ResourceName<'_>,
        at: Option<UnixTime>,
    ) -> Result<Option<LinkedResource>, StateError> {
        let ResourceName { did, name, kind } = name;
        let Some(owner) = Identifier::of_did(did, self.network()) else {
            return Ok(None);
        };
        let begun = self.begun(state);
        let versions =
            History::<VersionLink>::new(&begun, StateKey::ResourceName(owner, name, kind));
        let link = match at {
            Some(time) => versions.at(time)?,
            None => versions.last()?.map(|(_, link)| link),
        };
        match link {
            Some(link) => self.resource(state, did, link.id),
            None => Ok(None),
        }
    }

    /// The UUIDs of the last `count` versions of a name and type, oldest first.
    pub fn resource_versions(
        &self,
        state: &dyn StateRead,
        name: ResourceName<'_>,
        count: usize,
    ) -> Result<Vec<ResourceId>, StateError> {
        let ResourceName { did, name, kind } = name;
        let Some(owner) = Identifier::of_did(did, self.network()) else {
            return Ok(Vec::new());
        };
        let state = self.begun(state);
        let versions =
            History::<VersionLink>::new(&state, StateKey::ResourceName(owner, name, kind));
        let links = versions.latest(count)?;
        Ok(links.into_iter().map(|link| link.id).collect())
    }
}
