//! An operation: a method at an address, its description, and what it does. The router and the description of the API
//! are made from one table of operations.

use std::pin::Pin;
use std::sync::Arc;

use http::Method;

use crate::answer::OperationResult;
use crate::call::OperationCall;

/// What an operation does.
pub type Handler = Arc<
    dyn Fn(OperationCall) -> Pin<Box<dyn Future<Output = OperationResult> + Send>> + Send + Sync,
>;

/// One method at one address.
#[derive(Clone)]
pub struct AdminOperation {
    /// The method.
    pub method: Method,
    /// The address as ACA-Py spells it.
    pub path: &'static str,
    /// The group that it is listed in.
    pub tag: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// The parameters of its query.
    pub query: Vec<QueryParameter>,
    /// Whether it has a JSON body.
    pub has_body: bool,
    /// Who may call it.
    pub audience: OperationAudience,
    /// What it does.
    pub handler: Handler,
}

/// Who may call an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OperationAudience {
    /// Everybody who reaches the listener.
    Everybody,
    /// The controllers of the agent and of its sub-wallets.
    Wallets,
    /// The controllers of the agent itself, if it has sub-wallets.
    BaseWallet,
}

/// A parameter of a query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct QueryParameter {
    /// Its name.
    pub name: &'static str,
    /// Its type in the description.
    pub kind: &'static str,
}

/// A text.
pub const fn text(name: &'static str) -> QueryParameter {
    let kind = "string";
    QueryParameter { name, kind }
}

/// True or false.
pub const fn flag(name: &'static str) -> QueryParameter {
    let kind = "boolean";
    QueryParameter { name, kind }
}

/// A number.
pub const fn number(name: &'static str) -> QueryParameter {
    let kind = "integer";
    QueryParameter { name, kind }
}

/// The parameters that choose a part of a list.
pub const LIST: [QueryParameter; 4] = [
    number("limit"),
    number("offset"),
    text("order_by"),
    flag("descending"),
];

/// An operation that reads.
pub fn get<F>(path: &'static str, handler: fn(OperationCall) -> F) -> AdminOperation
where
    F: Future<Output = OperationResult> + Send + 'static,
{
    AdminOperation {
        has_body: false,
        ..AdminOperation::new(Method::GET, path, handler)
    }
}

/// An operation that does something.
pub fn post<F>(path: &'static str, handler: fn(OperationCall) -> F) -> AdminOperation
where
    F: Future<Output = OperationResult> + Send + 'static,
{
    AdminOperation::new(Method::POST, path, handler)
}

/// An operation that replaces something.
pub fn put<F>(path: &'static str, handler: fn(OperationCall) -> F) -> AdminOperation
where
    F: Future<Output = OperationResult> + Send + 'static,
{
    AdminOperation::new(Method::PUT, path, handler)
}

/// An operation that changes something.
pub fn patch<F>(path: &'static str, handler: fn(OperationCall) -> F) -> AdminOperation
where
    F: Future<Output = OperationResult> + Send + 'static,
{
    AdminOperation::new(Method::PATCH, path, handler)
}

/// An operation that removes something.
pub fn delete<F>(path: &'static str, handler: fn(OperationCall) -> F) -> AdminOperation
where
    F: Future<Output = OperationResult> + Send + 'static,
{
    AdminOperation {
        has_body: false,
        ..AdminOperation::new(Method::DELETE, path, handler)
    }
}

/// Operations of one group.
pub fn tagged(tag: &'static str, operations: Vec<AdminOperation>) -> Vec<AdminOperation> {
    let tagged = |operation| AdminOperation { tag, ..operation };
    operations.into_iter().map(tagged).collect()
}

impl AdminOperation {
    fn new<F>(method: Method, path: &'static str, handler: fn(OperationCall) -> F) -> Self
    where
        F: Future<Output = OperationResult> + Send + 'static,
    {
        Self {
            method,
            path,
            tag: "",
            summary: "",
            query: Vec::new(),
            has_body: true,
            audience: OperationAudience::Wallets,
            handler: Arc::new(move |call| Box::pin(handler(call))),
        }
    }

    /// Says what it does.
    pub fn does(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// Describes the parameters of its query.
    pub fn asks(mut self, query: &[QueryParameter]) -> Self {
        self.query.extend_from_slice(query);
        self
    }

    /// Lets everybody call it.
    pub fn open(mut self) -> Self {
        self.audience = OperationAudience::Everybody;
        self
    }

    /// Lets only controllers of the agent itself call it, not those of sub-wallets.
    pub fn of_base_wallet(mut self) -> Self {
        self.audience = OperationAudience::BaseWallet;
        self
    }
}
