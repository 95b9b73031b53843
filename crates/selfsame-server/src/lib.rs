//! HTTP: protocol endpoints, the API, and the pages.
