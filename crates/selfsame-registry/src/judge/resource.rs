//! Resources: a new one, or the next version of its name and type.

use crate::authority::{Act, Whose};
use crate::content::is_uri;
use crate::history::{History, PresentVersion};
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::resource::{PublishedResource, Resource, ResourceData, VersionLink};
use crate::state::StateKey;

use super::JudgedStep;

const MAX_NAME_BYTES: usize = 64;

impl JudgedStep<'_> {
    pub(super) fn publish_resource(&mut self, resource: &Resource) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::PublishResource, Whose::Own)?;
        self.is_a_resource(resource)?;
        let key = StateKey::Resource(self.author, resource.id);
        if self.to.has(&key)? {
            return Err(Refusal::Object(ObjectFault::Exists).into());
        }
        let versions = StateKey::ResourceName(self.author, &resource.name, &resource.kind);
        let last = History::<VersionLink>::new(&self.to, versions).last()?;
        let number = last.as_ref().map_or(0, |(number, _)| *number);
        let published = PublishedResource {
            resource: resource.clone(),
            number: number.saturating_add(1),
            previous: last.map(|(_, link)| link.id),
            receipt: self.receipt,
        };
        let link = VersionLink {
            id: resource.id,
            receipt: self.receipt,
        };
        let present = PresentVersion::open(published.number);
        self.to.put_version(&versions, present, &link);
        self.to.put(&key, &published);
        Ok(())
    }

    fn is_a_resource(&self, resource: &Resource) -> Result<(), Refusal> {
        let rules = &self.at.rules;
        let over = |length: usize, limit| u64::try_from(length).is_ok_and(|length| length > limit);
        if let ResourceData::Bytes(bytes) = &resource.data
            && over(bytes.len(), rules.max_resource_bytes)
        {
            return Err(Refusal::Object(ObjectFault::TooLarge));
        }
        if over(resource.also_known_as.len(), rules.max_also_known_as) {
            return Err(Refusal::Object(ObjectFault::TooLarge));
        }
        let name = |name: &str| {
            (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control)
        };
        let named = name(&resource.name) && name(&resource.kind);
        if !named || !resource.version.as_deref().is_none_or(name) {
            return Err(Refusal::Object(ObjectFault::Name));
        }
        if !is_media_type(&resource.media_type) {
            return Err(Refusal::Object(ObjectFault::MediaType));
        }
        let mut others = resource.also_known_as.iter();
        others
            .try_for_each(|uri| is_uri(uri, rules))
            .map_err(Refusal::Content)
    }
}

/// RFC 6838 §4.2: two restricted names and a slash.
fn is_media_type(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
    let name = |part: &str| (1..=127).contains(&part.len()) && part.bytes().all(plain);
    text.split_once('/')
        .is_some_and(|(kind, subtype)| name(kind) && name(subtype))
}
