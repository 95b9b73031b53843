//! What the handlers need of the instance that serves them.

use std::sync::Arc;

use selfsame_dc_api_role::{PageMessage, page_request};
use selfsame_driver::Result;
use selfsame_openid::verifier::Verifier;
use selfsame_wallet::Wallet;
use selfsame_wallet::view::{Person, RequestPreview};

/// The verifier of the organisation whose address was called.
pub struct BrowserHere {
    /// The verifier.
    pub verifier: Arc<Verifier>,
}

/// The wallet of the person whose browser calls.
pub struct WindowHere {
    /// The wallet.
    pub wallet: Arc<Wallet>,
    /// The person.
    pub person: Person,
}

impl WindowHere {
    /// Previews a request of a page: who asks for what, and what would go back to it.
    ///
    /// # Errors
    /// `BadRequest`, with the code of the specification, if the request breaks a rule or is for pages of another origin.
    pub async fn preview(&self, request: &PageMessage) -> Result<RequestPreview> {
        let opener = self.wallet.opener(&self.person);
        let asked = page_request(&opener, request).await?;
        self.wallet.preview_of_page(&self.person, asked).await
    }
}
