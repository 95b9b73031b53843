//! What a credential or presentation says, read once for its holder or for a judgement.

use std::sync::Arc;

use crate::{
    sd_jwt::{ProcessError, Processed, SdJwt},
    vc_jwt::{VcJwt, VpJwt},
};

/// What a text says.
#[derive(Debug)]
pub(crate) enum Subject {
    SdJwt {
        sd_jwt: Arc<SdJwt>,
        processed: Result<Arc<Processed>, ProcessError>,
    },
    Credential(Arc<VcJwt>),
    Presentation(Box<VpJwt>),
}
