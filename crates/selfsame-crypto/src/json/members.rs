//! Access to an object's members in sequence. An error names the member it was found in.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Error as _, IntoDeserializer, MapAccess};

use super::Misfit;

/// The remaining members, and the one whose name has been read.
pub(super) struct Members<N, V, I> {
    pub(super) left: I,
    current: Option<(N, V)>,
}

impl<N, V, I: Iterator<Item = (N, V)>> Members<N, V, I> {
    pub(super) fn of(left: I) -> Self {
        Self {
            left,
            current: None,
        }
    }
}

impl<'de, N, V, I> MapAccess<'de> for Members<N, V, I>
where
    N: AsRef<str>,
    V: IntoDeserializer<'de, Misfit>,
    I: Iterator<Item = (N, V)>,
{
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        let Some(member) = self.left.next() else {
            return Ok(None);
        };
        let (name, _) = self.current.insert(member);
        let name: StrDeserializer<'_, Misfit> = name.as_ref().into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        let (name, value) = self
            .current
            .take()
            .ok_or_else(|| Misfit::custom("a value before its name"))?;
        seed.deserialize(value.into_deserializer())
            .map_err(|misfit| misfit.in_member(name.as_ref()))
    }

    fn size_hint(&self) -> Option<usize> {
        self.left.size_hint().1
    }
}
