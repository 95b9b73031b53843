//! DIDs: their creation, change and end.

use crate::content::Content;
use crate::judge::Step;
use crate::refusal::{AuthorFault, CheckError, Refusal};
use crate::state::{DidVersion, Key};

impl Step<'_> {
    /// The author begins; his signatures were judged by this content already.
    pub(crate) fn create_did(&mut self, place: usize, content: &Content) -> Result<(), CheckError> {
        if place > 0 {
            return Err(Refusal::Author(AuthorFault::Exists).into());
        }
        self.begins_with_its_first_key(content)?;
        content.check(&self.at.rules).map_err(Refusal::Content)?;
        self.count_creation()?;
        self.put_did(1, Some(content.clone()));
        Ok(())
    }

    pub(crate) fn update_did(&mut self, version: u64, content: &Content) -> Result<(), CheckError> {
        self.follows(version)?;
        content.check(&self.at.rules).map_err(Refusal::Content)?;
        self.put_did(version, Some(content.clone()));
        Ok(())
    }

    pub(crate) fn deactivate_did(&mut self, version: u64) -> Result<(), CheckError> {
        self.follows(version)?;
        self.put_did(version, None);
        Ok(())
    }

    fn begins_with_its_first_key(&self, content: &Content) -> Result<(), Refusal> {
        match content.keys.first() {
            Some(key) if self.author.belongs_to(&key.public) => Ok(()),
            _ => Err(Refusal::Identifier),
        }
    }

    fn count_creation(&mut self) -> Result<(), CheckError> {
        let quota = (Key::CreationQuota, self.at.rules.creation_quota);
        let used = self.at.uses(&self.to, quota, 1)?;
        self.to.put(&Key::CreationQuota, &used);
        Ok(())
    }

    fn follows(&self, version: u64) -> Result<(), CheckError> {
        let (present, _) = self.active_author()?;
        match present.checked_add(1) == Some(version) {
            true => Ok(()),
            false => Err(Refusal::Version { present }.into()),
        }
    }

    fn put_did(&mut self, version: u64, content: Option<Content>) {
        let ends = content.is_none();
        let record = DidVersion {
            content,
            receipt: self.receipt,
        };
        let key = Key::Did(self.author);
        self.to.put_version(&key, (version, ends), &record);
    }
}
