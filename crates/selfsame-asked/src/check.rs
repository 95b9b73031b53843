//! Checks of a saved request. Every refusal names its place, such as `questions[1].alternatives[0].type`.

use selfsame_driver::{Error, ErrorKind, Reason, Result};
use selfsame_types::TypeSet;
use selfsame_types::asked::check::refusals;
use selfsame_types::asked::definition::RequestDefinition;

use crate::compile::{CompiledRequest, compile};

/// Checks a definition as a whole; gives what is made from it, or all that is wrong.
///
/// # Errors
/// The refusals, in the order of the file.
pub fn checked(
    definition: &RequestDefinition,
    types: &TypeSet,
) -> std::result::Result<CompiledRequest, Vec<Reason>> {
    let mut refusals = refusals(definition);
    match compile(definition, types) {
        Ok(compiled) if refusals.is_empty() => Ok(compiled),
        Ok(_) => Err(refusals),
        Err(further) => {
            refusals.extend(further);
            Err(refusals)
        }
    }
}

/// The first of these refusals as an error.
///
/// # Errors
/// `BadRequest`, unless nothing is wrong.
pub fn or_refused(
    checked: std::result::Result<CompiledRequest, Vec<Reason>>,
) -> Result<CompiledRequest> {
    checked.map_err(|refusals| {
        let first = refusals.into_iter().next();
        first.map_or_else(
            || Error::internal("a refusal has no reason"),
            |reason| Error::of(ErrorKind::BadRequest, reason),
        )
    })
}
