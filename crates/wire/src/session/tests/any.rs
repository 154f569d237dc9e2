//! Whatever a message holds, it is one line and comes back.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use serde_json::value::{RawValue, to_raw_value};

use super::super::*;
use crate::approval::{Action, Press};

/// Any text, also with control characters and separators; short enough for an id.
fn text() -> impl Strategy<Value = String> + Clone {
    vec(any::<char>(), 0..20).prop_map(String::from_iter)
}

fn conversation() -> impl Strategy<Value = String> + Clone {
    "[^\\pC]{1,30}"
}

fn engine() -> impl Strategy<Value = String> + Clone {
    "[^\\pC]{1,16}"
}

fn object() -> impl Strategy<Value = Box<RawValue>> + Clone {
    (text(), text()).prop_map(|pair| raw(&std::collections::BTreeMap::from([pair])))
}

fn metadata() -> impl Strategy<Value = Option<Box<RawValue>>> + Clone {
    let named = conversation().prop_map(|id| raw(&serde_json::json!({ "conversationId": id })));
    of(prop_oneof![object(), named])
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn said() -> impl Strategy<Value = UserMessage> {
    let attachment = prop_oneof![
        (text(), text()).prop_map(|(path, mime)| Attachment::File { path, mime }),
        (text(), text(), of(text())).prop_map(|(data, mime, name)| Attachment::Inline {
            data,
            mime,
            name
        }),
    ];
    (text(), vec(attachment, 0..3), metadata(), any::<bool>(), of(object())).prop_map(
        |(message, attachments, metadata, steer, output_schema)| UserMessage {
            message,
            attachments,
            metadata,
            steer,
            output_schema,
        },
    )
}

fn front_tool() -> impl Strategy<Value = FrontTool> {
    (text(), text(), object(), any::<bool>()).prop_map(
        |(name, description, input_schema, read_only)| FrontTool {
            name,
            description,
            input_schema,
            read_only,
        },
    )
}

fn answer() -> impl Strategy<Value = PermissionAnswer> {
    let press = prop_oneof![
        Just(Press::Button(Action::Allow)),
        Just(Press::Button(Action::Always(0))),
        Just(Press::Button(Action::Deny)),
        object().prop_map(Press::Input),
        // A blank message is none.
        text().prop_map(|words| Press::Words(format!("{words}."))),
    ];
    (text(), press).prop_map(|(question, press)| PermissionAnswer { question, press })
}

fn command() -> impl Strategy<Value = SessionCommand> {
    prop_oneof![
        said().prop_map(SessionCommand::UserMessage),
        said().prop_map(SessionCommand::EditLast),
        metadata().prop_map(|metadata| SessionCommand::ClearHistory { metadata }),
        metadata().prop_map(|metadata| SessionCommand::Regenerate { metadata }),
        Just(SessionCommand::GetStatus),
        (vec(text(), 0..3), vec(front_tool(), 0..3))
            .prop_map(|(capabilities, tools)| SessionCommand::Hello { capabilities, tools }),
        (text(), object(), any::<bool>()).prop_map(|(call, result, is_error)| {
            SessionCommand::ToolAnswer(FrontToolAnswer { call, result, is_error })
        }),
        text().prop_map(|target| SessionCommand::Cancel { target }),
        answer().prop_map(SessionCommand::PermissionAnswer),
        question_answer().prop_map(SessionCommand::QuestionAnswer),
        (of(conversation()), of(text())).prop_map(|(conversation_id, title)| {
            SessionCommand::NewConversation { conversation_id, title }
        }),
        (any::<Option<u32>>(), any::<Option<u64>>(), of(text())).prop_map(
            |(limit, before, search)| SessionCommand::ListConversations { limit, before, search }
        ),
        (conversation(), any::<Option<u32>>(), any::<Option<u64>>(), any::<bool>()).prop_map(
            |(conversation_id, limit, before, events)| {
                let load_as = if events { LoadAs::Events } else { LoadAs::Messages };
                SessionCommand::LoadConversation { conversation_id, limit, before, load_as }
            }
        ),
        (conversation(), text()).prop_map(|(conversation_id, title)| {
            SessionCommand::RenameConversation { conversation_id, title }
        }),
        conversation()
            .prop_map(|conversation_id| SessionCommand::DeleteConversation { conversation_id }),
        of(engine()).prop_map(|engine| SessionCommand::ListModels { engine }),
        (of(conversation()), engine(), of(conversation()), metadata()).prop_map(
            |(conversation_id, engine, model, metadata)| {
                SessionCommand::SetEngine { conversation_id, engine, model, metadata }
            }
        ),
        (conversation(), any::<Option<u64>>(), of(text())).prop_map(
            |(conversation_id, length, title)| SessionCommand::ForkConversation {
                conversation_id,
                length,
                title
            }
        ),
        (of(conversation()), any::<u64>()).prop_map(|(conversation_id, length)| {
            SessionCommand::Rewind { conversation_id, length }
        }),
        of(conversation()).prop_map(|conversation_id| SessionCommand::Compact { conversation_id }),
        of(conversation()).prop_map(|conversation_id| SessionCommand::LeaveOut { conversation_id }),
        (of(conversation()), mode())
            .prop_map(|(conversation_id, mode)| SessionCommand::SetMode { conversation_id, mode }),
        (text(), of(any::<u32>()))
            .prop_map(|(query, limit)| SessionCommand::FindFiles { query, limit }),
        (text(), of(1..u64::MAX), of(1..u64::MAX)).prop_map(|(path, offset, limit)| {
            SessionCommand::ReadFile(WantedFile { path, offset, limit })
        }),
        any::<u64>().prop_map(|from_seq| SessionCommand::Replay { from_seq }),
    ]
}

fn mode() -> impl Strategy<Value = ConversationMode> {
    prop::sample::select(ConversationMode::ALL.as_slice())
}

fn status() -> impl Strategy<Value = RuntimeStatus> {
    let named = (of(text()), of(text()), of(text()), of(text()));
    let instruction = (text(), any::<u64>(), any::<bool>())
        .prop_map(|(path, bytes, is_cut)| InstructionFile { path, bytes, is_cut });
    let server = (text(), text(), text(), any::<u64>(), any::<bool>()).prop_map(
        |(name, state, text, tools, is_project)| McpServerStatus {
            name,
            state,
            text,
            tools,
            is_project,
        },
    );
    let open = (
        (of(mode()), of(vec(instruction, 0..3)), of(vec(server, 0..3))),
        of(vec(open_request(), 0..3)),
        (of(vec(open_question(), 0..3)), of(vec(open_agent_question(), 0..3))),
    );
    (text(), any::<u64>(), any::<u64>(), named, open).prop_map(
        |(
            state,
            conversation_length,
            uptime,
            named,
            ((mode, instructions, servers), requests, (questions, agent_questions)),
        )| {
            let (engine, engine_reason, model, conversation_id) = named;
            RuntimeStatus {
                state,
                conversation_length,
                uptime,
                engine,
                engine_reason,
                model,
                conversation_id,
                mode,
                instructions,
                requests,
                questions,
                agent_questions,
                servers,
            }
        },
    )
}

fn open_request() -> impl Strategy<Value = OpenRequest> {
    let named = (text(), text(), text(), of(text()), of(text()));
    (named, any::<u64>(), any::<u64>()).prop_map(
        |((id, kind, state, conversation_id, message), since, from_seq)| OpenRequest {
            id,
            kind,
            state,
            since,
            from_seq,
            conversation_id,
            message,
        },
    )
}

fn open_question() -> impl Strategy<Value = OpenQuestion> {
    (text(), question(), any::<u64>()).prop_map(|(id, data, timestamp)| OpenQuestion {
        id,
        data,
        timestamp,
    })
}

fn open_agent_question() -> impl Strategy<Value = OpenAgentQuestion> {
    (text(), agent_question(), any::<u64>()).prop_map(|(id, data, timestamp)| OpenAgentQuestion {
        id,
        data,
        timestamp,
    })
}

fn question_answer() -> impl Strategy<Value = QuestionAnswer> {
    let values = vec((text(), text()), 0..3).prop_map(|values| {
        let values = values.into_iter().map(|(name, value)| (name, value.into()));
        (AnswerOutcome::Answered, values.collect())
    });
    let outcome = prop_oneof![
        values,
        Just((AnswerOutcome::Declined, serde_json::Map::new())),
        Just((AnswerOutcome::Cancelled, serde_json::Map::new())),
    ];
    (text(), outcome).prop_map(|(question, (outcome, values))| QuestionAnswer {
        question,
        outcome,
        values,
    })
}

fn field_kind() -> impl Strategy<Value = FieldKind> {
    let option = (text(), text(), of(text())).prop_map(|(value, title, description)| FieldOption {
        value,
        title,
        description,
    });
    let options = vec(option, 0..3);
    let number = || any::<Option<i32>>().prop_map(|number| number.map(Into::into));
    let bounds = (number(), number(), number())
        .prop_map(|(minimum, maximum, default)| NumberBounds { minimum, maximum, default });
    let length = any::<Option<u64>>;
    prop_oneof![
        (length(), length(), of(text()), of(text())).prop_map(
            |(min_length, max_length, format, default)| FieldKind::Text {
                min_length,
                max_length,
                format,
                default
            }
        ),
        bounds.clone().prop_map(FieldKind::Number),
        bounds.prop_map(FieldKind::Integer),
        any::<Option<bool>>().prop_map(|default| FieldKind::Boolean { default }),
        (options.clone(), any::<bool>(), of(text())).prop_map(|(options, free_text, default)| {
            FieldKind::OneOf { options, free_text, default }
        }),
        (options, any::<bool>(), length(), length(), of(vec(text(), 0..3))).prop_map(
            |(options, free_text, min_items, max_items, default)| FieldKind::SeveralOf {
                options,
                free_text,
                min_items,
                max_items,
                default
            }
        ),
    ]
}

fn agent_question() -> impl Strategy<Value = AgentQuestion> {
    let field = (text(), text(), of(text()), any::<bool>(), field_kind()).prop_map(
        |(name, title, description, required, kind)| QuestionField {
            name,
            title,
            description,
            required,
            kind,
        },
    );
    let named = (text(), text(), of(text()), text(), of(text()));
    (named, vec(field, 0..3), any::<Option<u64>>()).prop_map(
        |((question, tool_id, server, text, url), fields, deadline)| AgentQuestion {
            question,
            tool_id,
            server,
            text,
            url,
            fields,
            deadline,
        },
    )
}

fn question() -> impl Strategy<Value = PermissionRequest> {
    let named = (text(), text(), text(), text(), of(text()), of(text()));
    (named, object(), any::<Option<bool>>(), any::<Option<u64>>()).prop_map(
        |(named, input, can_allow_always, deadline)| {
            let (question, tool_id, tool_name, title, reason, diff) = named;
            PermissionRequest {
                question,
                tool_id,
                tool_name,
                input,
                title,
                reason,
                can_allow_always,
                deadline,
                diff,
                card: None,
            }
        },
    )
}

fn past_message() -> impl Strategy<Value = PastUserMessage> {
    let attachment = (text(), of(text()), any::<u64>(), of(text()))
        .prop_map(|(mime, name, size, data)| PastAttachment { mime, name, size, data });
    (text(), vec(attachment, 0..3))
        .prop_map(|(message, attachments)| PastUserMessage { message, attachments })
}

fn locations() -> impl Strategy<Value = Option<Vec<ToolLocation>>> {
    let location =
        (text(), any::<Option<u64>>()).prop_map(|(path, line)| ToolLocation { path, line });
    of(vec(location, 0..3))
}

fn failure() -> impl Strategy<Value = SessionEvent> {
    let data = (text(), any::<Option<u16>>(), any::<bool>())
        .prop_map(|(kind, status, retryable)| ErrorData { kind, status, retryable });
    (text(), of(data)).prop_map(|(error, data)| SessionEvent::Error { error, data })
}

fn usage() -> impl Strategy<Value = UsageReport> {
    let cents = any::<Option<u32>>();
    (any::<[u64; 4]>(), cents, any::<u64>(), any::<Option<u64>>()).prop_map(
        |([input, output, cache_read, cache_write], cents, context_tokens, context_window)| {
            UsageReport {
                usage: TokenUsage { input, output, cache_read, cache_write },
                cost: cents.map(|cents| f64::from(cents) / 100.0),
                cached_share: cents.map(|cents| f64::from(cents % 101) / 100.0),
                context_tokens,
                context_window,
            }
        },
    )
}

fn tool_event() -> impl Strategy<Value = SessionEvent> {
    let stream = prop_oneof![Just(ToolStream::Stdout), Just(ToolStream::Stderr)];
    prop_oneof![
        (text(), text(), object(), of(text()), locations()).prop_map(
            |(tool_id, tool_name, input, kind, locations)| {
                SessionEvent::ToolUse(ToolUse {
                    tool_id,
                    tool_name,
                    input,
                    kind,
                    locations,
                    card: None,
                })
            }
        ),
        (text(), text(), object(), any::<Option<bool>>()).prop_map(
            |(tool_id, tool_name, result, is_error)| {
                SessionEvent::ToolResult(ToolResult { tool_id, tool_name, result, is_error })
            }
        ),
        (text(), stream, text()).prop_map(|(tool_id, stream, text)| {
            SessionEvent::ToolProgress(ToolProgress { tool_id, stream, text })
        }),
        (text(), text(), proptest::option::of(text()), text()).prop_map(
            |(tool_id, tool_name, deed, text)| {
                SessionEvent::ToolInput(ToolInput { tool_id, tool_name, deed, text })
            }
        ),
        usage().prop_map(SessionEvent::Usage),
        question().prop_map(SessionEvent::PermissionRequest),
        agent_question().prop_map(SessionEvent::Question),
        (text(), text(), text()).prop_map(|(question, outcome, text)| {
            SessionEvent::QuestionResolved(QuestionResolved { question, outcome, text })
        }),
        (text(), text(), text()).prop_map(|(question, decision, text)| {
            SessionEvent::PermissionResolved(PermissionResolved { question, decision, text })
        }),
    ]
}

fn event() -> impl Strategy<Value = SessionEvent> {
    prop_oneof![
        past_message().prop_map(SessionEvent::UserMessage),
        text().prop_map(SessionEvent::Token),
        text().prop_map(SessionEvent::Thinking),
        tool_event(),
        (text(), text()).prop_map(|(kind, text)| SessionEvent::Notice(Notice { kind, text })),
        of(object()).prop_map(SessionEvent::Done),
        failure(),
        status().prop_map(|status| SessionEvent::Status(Box::new(status))),
    ]
}

proptest! {
    #[test]
    fn any_request_is_one_line_and_comes_back(id in text(), command in command()) {
        let request = SessionRequest { id, command };
        let line = request.to_line();
        prop_assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
        let back = SessionRequest::decode(&line).expect("our own line");
        prop_assert_eq!(format!("{back:?}"), format!("{request:?}"));
    }

    #[test]
    fn any_reply_is_one_line_and_comes_back(
        id in of(text()),
        event in event(),
        timestamp: u64,
        seq: Option<u64>,
    ) {
        let id = id.or_else(|| (event.kind() != "error").then(String::new));
        let response = SessionResponse::Reply(SessionReply { id, event, timestamp, seq });
        let line = response.to_line();
        prop_assert_eq!(memchr::memchr(b'\n', &line), Some(line.len() - 1));
        let back = SessionResponse::decode(&line).expect("our own line");
        prop_assert_eq!(format!("{back:?}"), format!("{response:?}"));
    }

    #[test]
    fn a_number_put_into_a_line_is_its_seq(id in text(), event in event(), seq: u64) {
        let mut reply = SessionReply { id: Some(id), event, timestamp: 1, seq: None };
        let mut line = b"before\n".to_vec();
        reply.write(&mut line);
        line.truncate(line.len() - "}\n".len());
        line.extend_from_slice(format!(",\"seq\":{seq}}}\n").as_bytes());
        reply.seq = Some(seq);
        let mut numbered = b"before\n".to_vec();
        reply.write(&mut numbered);
        prop_assert_eq!(line, numbered);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = (SessionRequest::decode(&bytes), SessionResponse::decode(&bytes));
    }
}
