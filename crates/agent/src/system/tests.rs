//! What is told about the machine.

use super::*;

#[test]
fn the_calendar() {
    for (seconds, expected) in [
        (0, "1970-01-01T00:00:00Z"),
        (951_782_399, "2000-02-28T23:59:59Z"),
        (951_782_400, "2000-02-29T00:00:00Z"),
        (1_709_251_199, "2024-02-29T23:59:59Z"),
        (1_709_251_200, "2024-03-01T00:00:00Z"),
        (1_735_689_599, "2024-12-31T23:59:59Z"),
        (4_107_542_400, "2100-03-01T00:00:00Z"),
        (u64::MAX, "9999-12-31T23:59:59Z"),
    ] {
        assert_eq!(utc(seconds), expected);
    }
}

#[test]
fn files_of_the_system() {
    assert_eq!(os_name("ID=x\nNAME=\"X\"\nPRETTY_NAME=\"X 12\"\n"), "X 12");
    assert_eq!(os_name("NAME=X\nPRETTY_NAME=\n"), "X");
    assert_eq!(os_name("nonsense"), std::env::consts::OS);
    let expected = SystemMemory { total_bytes: Some(2048 * 1024), available_bytes: Some(1024) };
    assert_eq!(memory("MemTotal:       2048 kB\nMemAvailable: 1 kB\n"), expected);
    assert_eq!(memory("MemTotal: many kB\n"), SystemMemory::default());
    let zone_of = |link: &str| zone(Path::new(link));
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
    let tool = tool(&settings);
    assert!(tool.spec().is_read_only);
    let input = RawValue::from_string("{}".into()).unwrap();
    let outcome = tool.run(ToolInvocation { input, progress: Arc::new(|_, _| {}) }).await;
    assert!(!outcome.is_error);
    let host = word("hostname");
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
