//! OAuth 2.0 as the credential protocols use it: grants, token responses, metadata, errors.
