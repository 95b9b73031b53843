//! Reading a client's request: its parameters, those of a signed object, or those that were pushed.

use std::sync::Arc;

use selfsame_driver::Result;
use selfsame_oauth::request_object::{RequestObject, RequestObjectRules};
use selfsame_oauth::spent::SpentId;
use selfsame_oauth::{Code, Form};
use selfsame_oidc::request::ReturnedError;
use selfsame_oidc::{AuthorizationRequest, RequestRefusal};

use crate::clients::FoundClient;
use crate::pushed_record::{PushedId, PushedRequest};
use crate::refusal::{refusal, refuse};
use crate::service::SignIns;

/// A request that may be answered, and what is written with its sign-in.
pub(crate) struct ReadRequest {
    pub client: Arc<FoundClient>,
    pub request: AuthorizationRequest,
    pub spent: Vec<SpentId>,
    pub pushed: Option<PushedId>,
}

/// How reading a request ended.
pub(crate) enum RequestRead {
    Read(Box<ReadRequest>),
    Returned(Box<ReturnedError>),
}

impl SignIns {
    /// Reads a request: its parameters, those of a signed object, or those that were pushed.
    pub(crate) async fn read_request(&self, mut form: Form) -> Result<RequestRead> {
        let client_id = form.get("client_id").map(str::to_owned);
        let absent = || refuse(Code::InvalidRequest, "client_id is missing");
        let client_id = client_id.ok_or_else(absent)?;
        let found = self.clients().active(&client_id).await?;
        let client = found.ok_or_else(|| refuse(Code::InvalidClient, "the client is unknown"))?;
        match form.take("request_uri") {
            Some(uri) => {
                let (pushed, request) = PushedRequest::take(self, &uri, &client_id).await?;
                Ok(RequestRead::Read(Box::new(ReadRequest {
                    client,
                    request,
                    spent: Vec::new(),
                    pushed: Some(pushed),
                })))
            }
            None if client.party.requires_par => Err(refuse(
                Code::InvalidRequest,
                "requests of this client must be pushed",
            )),
            None => {
                let read = self.read_parameters(form, client).await?;
                Ok(self.unpushed(read))
            }
        }
    }

    /// Reads the parameters of a request or of its signed object.
    pub(crate) async fn read_parameters(
        &self,
        mut form: Form,
        client: Arc<FoundClient>,
    ) -> Result<RequestRead> {
        let mut spent = Vec::new();
        if let Some(object) = form.take("request") {
            let signed = self.signed_parameters(&object, &client).await?;
            (form, spent) = signed;
        } else if client.party.requires_request_object {
            let reason = "requests of this client must be signed";
            return Err(refuse(Code::InvalidRequest, reason));
        }
        Ok(
            match AuthorizationRequest::parse(form, &client.party, &client.rules) {
                Ok(mut request) => match self.ask_for_credentials(&mut request, &client.party) {
                    Ok(()) => RequestRead::Read(Box::new(ReadRequest {
                        client,
                        request,
                        spent,
                        pushed: None,
                    })),
                    Err(error) => RequestRead::Returned(Box::new(ReturnedError {
                        redirect_uri: request.redirect_uri,
                        mode: request.mode,
                        state: request.state,
                        error,
                    })),
                },
                Err(RequestRefusal::Returned(returned)) => RequestRead::Returned(returned),
                Err(RequestRefusal::Shown(error)) => return Err(refusal(error)),
            },
        )
    }

    async fn signed_parameters(
        &self,
        object: &str,
        client: &FoundClient,
    ) -> Result<(Form, Vec<SpentId>)> {
        let object = RequestObject::parse(object).map_err(refusal)?;
        let algorithms = Self::object_algorithms(client);
        let demanded = RequestObjectRules {
            client_id: &client.party.id,
            issuer: self.place.issuer(),
            algorithms: &algorithms,
            time: self.time(&client.rules),
            needs_times: client.rules.issuer_is_audience,
        };
        let verify = |keys: &_| object.clone().verify(keys, &demanded);
        let signed = self.with_keys(&client.party.keys, verify).await?;
        Ok((signed.form, signed.spent.into_iter().collect()))
    }
}
