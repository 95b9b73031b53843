//! Status lists: an anchor has to be newer than the one before it.

use selfsame_crypto::time::UnixTime;

use crate::authority::{Act, Whose};
use crate::content::is_uri;
use crate::history::{History, PresentVersion};
use crate::refusal::{CheckError, Refusal};
use crate::state::StateKey;
use crate::status::Anchor;

use super::JudgedStep;

impl JudgedStep<'_> {
    pub(super) fn anchor_status(
        &mut self,
        list: &str,
        digest: [u8; 32],
        issued: UnixTime,
    ) -> Result<(), CheckError> {
        self.active_author()?;
        self.authorise(Act::AnchorStatus, Whose::Own)?;
        is_uri(list, &self.at.rules).map_err(Refusal::Content)?;
        self.is_not_from_the_future(issued)?;
        let key = StateKey::List(self.author, list);
        let version = match History::<Anchor>::new(&self.to, key).last()? {
            Some((_, anchor)) if issued <= anchor.issued => return Err(Refusal::NotNewer.into()),
            Some((version, _)) => version.saturating_add(1),
            None => 1,
        };
        let anchor = Anchor {
            list: list.to_owned(),
            digest,
            issued,
            receipt: self.receipt,
        };
        self.to
            .put_version(&key, PresentVersion::open(version), &anchor);
        Ok(())
    }

    fn is_not_from_the_future(&self, issued: UnixTime) -> Result<(), Refusal> {
        match issued <= self.at.time.plus(self.at.rules.max_clock_skew) {
            true => Ok(()),
            false => Err(Refusal::Future),
        }
    }
}
