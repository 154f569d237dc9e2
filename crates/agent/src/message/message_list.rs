//! A list of messages whose clones cost little. A conversation is sent as a whole with every
//! request, so a list of a thousand messages is cloned for each of them.

use std::ops::Index;
use std::sync::Arc;

use crate::message::ChatMessage;

/// How many messages at the end of a list are not shared.
const MOST_LAST: usize = 64;

/// Messages in order. A clone shares all but the last ones, so neither it nor its drop touches
/// them.
#[derive(Debug, Clone, Default)]
pub struct MessageList {
    shared: Arc<Vec<Arc<ChatMessage>>>,
    /// The messages after the shared ones. Empty only if the list is.
    last: Vec<Arc<ChatMessage>>,
}

impl MessageList {
    pub fn len(&self) -> usize {
        self.shared.len() + self.last.len()
    }

    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    pub fn last(&self) -> Option<&Arc<ChatMessage>> {
        self.last.last()
    }

    pub fn last_mut(&mut self) -> Option<&mut Arc<ChatMessage>> {
        self.last.last_mut()
    }

    pub fn get(&self, index: usize) -> Option<&Arc<ChatMessage>> {
        let last = || self.last.get(index.checked_sub(self.shared.len())?);
        self.shared.get(index).or_else(last)
    }

    pub fn push(&mut self, message: Arc<ChatMessage>) {
        if self.last.len() >= MOST_LAST {
            // A clone that is still there costs a copy of the references, once for this many
            // messages.
            Arc::make_mut(&mut self.shared).append(&mut self.last);
        }
        self.last.push(message);
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Arc<ChatMessage>> + Clone {
        self.iter_from(0)
    }

    pub fn iter_from(
        &self,
        index: usize,
    ) -> impl DoubleEndedIterator<Item = &Arc<ChatMessage>> + Clone {
        let shared = self.shared.get(index..).unwrap_or_default();
        let last = self.last.get(index.saturating_sub(self.shared.len())..).unwrap_or_default();
        shared.iter().chain(last)
    }

    pub fn to_vec(&self) -> Vec<Arc<ChatMessage>> {
        self.iter().cloned().collect()
    }
}

impl Index<usize> for MessageList {
    type Output = Arc<ChatMessage>;

    fn index(&self, index: usize) -> &Self::Output {
        match index.checked_sub(self.shared.len()) {
            Some(index) => &self.last[index],
            None => &self.shared[index],
        }
    }
}

impl Extend<Arc<ChatMessage>> for MessageList {
    fn extend<I: IntoIterator<Item = Arc<ChatMessage>>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl FromIterator<Arc<ChatMessage>> for MessageList {
    fn from_iter<I: IntoIterator<Item = Arc<ChatMessage>>>(messages: I) -> Self {
        let mut list = Self::default();
        list.extend(messages);
        list
    }
}

impl From<Vec<Arc<ChatMessage>>> for MessageList {
    fn from(messages: Vec<Arc<ChatMessage>>) -> Self {
        messages.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Block;

    fn message(number: usize) -> Arc<ChatMessage> {
        Arc::new(ChatMessage::user(vec![Block::text(number.to_string())]))
    }

    #[test]
    fn a_list_is_the_same_as_a_vector_at_every_length() {
        let (mut list, mut vector) = (MessageList::default(), Vec::new());
        for number in 0..3 * MOST_LAST {
            let same = |one: &Arc<ChatMessage>, other| Arc::ptr_eq(one, other);
            assert_eq!((list.len(), list.is_empty()), (vector.len(), vector.is_empty()));
            assert!(list.last().zip(vector.last()).is_none_or(|(one, other)| same(one, other)));
            for from in 0..=number + 1 {
                let rest = vector.get(from..).unwrap_or_default();
                assert!(list.iter_from(from).eq_by_pointer(rest.iter()));
                assert!(list.iter_from(from).rev().eq_by_pointer(rest.iter().rev()));
                assert_eq!(list.get(from).is_some(), from < number);
            }
            assert!((0..number).all(|at| same(&list[at], &vector[at])));
            let before = list.clone();
            list.push(message(number));
            vector.push(Arc::clone(&list[number]));
            assert_eq!(before.len(), number, "a clone does not change");
        }
    }

    trait ByPointer<'a>: Iterator<Item = &'a Arc<ChatMessage>> + Sized {
        fn eq_by_pointer(self, other: impl Iterator<Item = &'a Arc<ChatMessage>>) -> bool {
            self.map(Arc::as_ptr).eq(other.map(Arc::as_ptr))
        }
    }

    impl<'a, I: Iterator<Item = &'a Arc<ChatMessage>>> ByPointer<'a> for I {}
}
