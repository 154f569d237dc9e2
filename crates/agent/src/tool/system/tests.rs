//! What is told about the machine.

use serde_json::value::RawValue;

use super::*;
use crate::tool::ToolInvocation;

#[test]
fn files_of_the_system() {
    assert_eq!(os_name("ID=x\nNAME=\"X\"\nPRETTY_NAME=\"X 12\"\n"), "X 12");
    assert_eq!(os_name("NAME=X\nPRETTY_NAME=\n"), "X");
    assert_eq!(os_name("nonsense"), std::env::consts::OS);
    let expected = SystemMemory { total_bytes: Some(2048 * 1024), available_bytes: Some(1024) };
    assert_eq!(parse_memory("MemTotal:       2048 kB\nMemAvailable: 1 kB\n"), expected);
    assert_eq!(parse_memory("MemTotal: many kB\n"), SystemMemory::default());
    let zone_of = |link: &str| time_zone_name(Path::new(link));
    assert_eq!(zone_of("../usr/share/zoneinfo/Europe/Berlin").as_deref(), Some("Europe/Berlin"));
    assert_eq!(zone_of("/somewhere"), None);
}

#[tokio::test]
async fn the_machine_is_told_without_its_people() {
    let env = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    let env = vec![
        env("PATH", "/usr/bin:/bin"),
        env("USER", "ada-lovelace"),
        env("API_KEY", "sesame-open"),
    ];
    let settings = RunSettings::new(PathBuf::from("/made/up"), env);
    let tool = build_system_tool(&settings);
    assert!(tool.spec().is_read_only);
    let input = RawValue::from_string("{}".into()).unwrap();
    let outcome = tool
        .run_call(ToolInvocation {
            input,
            conversation: "c".into(),
            address: crate::tool::CallAddress::default(),
            progress: Arc::new(|_, _| {}),
            asker: crate::tool::PersonAsker::default(),
        })
        .await;
    assert!(!outcome.is_error);
    let host = read_kernel_word("hostname");
    for text in [outcome.text.as_str(), outcome.result.get()] {
        assert!(text.contains("/made/up") && text.contains("sh"), "{text}");
        assert!(!text.contains("lovelace") && !text.contains("sesame"), "{text}");
        assert!(host.len() < 4 || !text.contains(&host), "{text}");
    }
    let result: serde_json::Value = serde_json::from_str(outcome.result.get()).unwrap();
    assert!(result["memory"]["totalBytes"].as_u64().unwrap() > 1024 * 1024);
    assert!(result["cpus"].as_u64().unwrap() > 0);
    assert!(!result["kernel"].as_str().unwrap().is_empty());
    assert!(result["programs"].as_array().unwrap().contains(&json!("sh")));
    assert_eq!(result["roots"], json!(["/made/up"]));
}
