//! The table of tokens, by their first byte, and longer prefixes before shorter ones.

use super::{Body, Token};

/// All kinds of tokens.
pub(in crate::mask) const TOKENS: [Token; 129] = [
    token("1//0", "Google token", Body::Url, 40),
    token("AGE-SECRET-KEY-1", "age key", Body::Upper, 40),
    token("AGE-PLUGIN-", "age key", Body::Path, 60),
    token("ATATT3", "Atlassian token", Body::Path, 40),
    token("ATCTT3", "Atlassian token", Body::Path, 40),
    token("ABIA", "AWS key", Body::Upper, 16).exactly(16).strict(),
    token("ABSK", "AWS key", Body::Path, 80),
    token("ACCA", "AWS key", Body::Upper, 16).exactly(16).strict(),
    token("AIza", "Google key", Body::Url, 35),
    token("AKCp", "Artifactory key", Body::Alnum, 60).strict(),
    token("AKIA", "AWS key", Body::Upper, 16).exactly(16).strict(),
    token("AQVN", "Yandex key", Body::Url, 34).strict(),
    token("ASIA", "AWS key", Body::Upper, 16).exactly(16).strict(),
    token("ATBB", "Bitbucket token", Body::Alnum, 28).strict(),
    token("CCIPAT_", "CircleCI token", Body::Url, 40),
    token("CFPAT-", "Contentful token", Body::Url, 40),
    token("EAAA", "Square token", Body::Url, 56).strict(),
    token("EAAC", "Facebook token", Body::Alnum, 60).strict(),
    token("EZAK", "EasyPost key", Body::Alnum, 54).strict(),
    token("GOCSPX-", "Google client secret", Body::Url, 20),
    token("HRKU-", "Heroku key", Body::Url, 30),
    token("NRAK-", "New Relic key", Body::Upper, 20),
    token("PMAK-", "Postman key", Body::Url, 40),
    token("SG.", "SendGrid key", Body::Dotted, 40).strict(),
    token("SK", "Twilio key", Body::Hex, 32).exactly(32).strict(),
    token("api_org_", "Hugging Face token", Body::Alnum, 30),
    token("bedrock-api-key-", "AWS key", Body::Path, 40),
    token("bkua_", "Buildkite token", Body::Hex, 40),
    token("discordapp.com/api/webhooks/", "Discord webhook", Body::Path, 30).after_address(),
    token("discord.com/api/webhooks/", "Discord webhook", Body::Path, 30).after_address(),
    token("dckr_oat_", "Docker token", Body::Url, 20),
    token("dckr_pat_", "Docker token", Body::Url, 20),
    token("doo_v1_", "DigitalOcean token", Body::Hex, 40),
    token("dop_v1_", "DigitalOcean token", Body::Hex, 40),
    token("dor_v1_", "DigitalOcean token", Body::Hex, 40),
    token("dp.pt.", "Doppler token", Body::Alnum, 40),
    token("dp.st.", "Doppler token", Body::Dotted, 40),
    token("dapi", "Databricks token", Body::Hex, 32).strict(),
    token("figd_", "Figma token", Body::Url, 30),
    token("fm2_", "Fly token", Body::Path, 40),
    token("fo1_", "Fly token", Body::Url, 40),
    token("github_pat_", "GitHub token", Body::Url, 22),
    token("glagent-", "GitLab token", Body::Url, 16),
    token("glsoat-", "GitLab token", Body::Url, 16),
    token("glcbt-", "GitLab token", Body::Url, 16),
    token("glimt-", "GitLab token", Body::Url, 16),
    token("gloas-", "GitLab token", Body::Url, 16),
    token("glpat-", "GitLab token", Body::Dotted, 16),
    token("glptt-", "GitLab token", Body::Url, 16),
    token("gldt-", "GitLab token", Body::Url, 16),
    token("glft-", "GitLab token", Body::Url, 16),
    token("glrt-", "GitLab token", Body::Dotted, 16),
    token("glsa_", "Grafana token", Body::Url, 20),
    token("gho_", "GitHub token", Body::Alnum, 20),
    token("ghp_", "GitHub token", Body::Alnum, 20),
    token("ghr_", "GitHub token", Body::Alnum, 20),
    token("ghs_", "GitHub token", Body::Dotted, 20),
    token("ghu_", "GitHub token", Body::Alnum, 20),
    token("glc_", "Grafana token", Body::Path, 20).strict(),
    token("gsk_", "Groq key", Body::Alnum, 30),
    token("hooks.slack.com/workflows/", "Slack webhook", Body::Path, 20).after_address(),
    token("hooks.slack.com/services/", "Slack webhook", Body::Path, 20).after_address(),
    token("hooks.slack.com/triggers/", "Slack webhook", Body::Path, 20).after_address(),
    token("hvb.", "Vault token", Body::Url, 20),
    token("hvr.", "Vault token", Body::Url, 20),
    token("hvs.", "Vault token", Body::Url, 20),
    token("hf_", "Hugging Face token", Body::Alnum, 30),
    token("key-", "Mailgun key", Body::Hex, 32).exactly(32).strict(),
    token("lin_api_", "Linear key", Body::Alnum, 30),
    token("lsv2_pt_", "LangSmith key", Body::Url, 40),
    token("lsv2_sk_", "LangSmith key", Body::Url, 40),
    token("nsec1", "Nostr key", Body::Alnum, 58).strict(),
    token("nfp_", "Netlify token", Body::Alnum, 30),
    token("npm_", "npm token", Body::Alnum, 30),
    token("ntn_", "Notion token", Body::Alnum, 40),
    token("ops_eyJ", "1Password token", Body::Path, 80),
    token("oy2", "NuGet key", Body::Alnum, 43).exactly(43).strict(),
    token("pscale_tkn_", "PlanetScale token", Body::Dotted, 30),
    token("pscale_pw_", "PlanetScale password", Body::Dotted, 30),
    token("pplx-", "Perplexity key", Body::Alnum, 40),
    token("pypi-", "PyPI token", Body::Url, 40).strict(),
    token("pnu_", "Prefect key", Body::Alnum, 36),
    token("pul-", "Pulumi token", Body::Hex, 40).strict(),
    token("rubygems_", "RubyGems key", Body::Hex, 40),
    token("rk_live_", "Stripe key", Body::Alnum, 16),
    token("rk_test_", "Stripe key", Body::Alnum, 16),
    token("r8_", "Replicate token", Body::Alnum, 36).strict(),
    token("sk-svcacct-", "OpenAI key", Body::Url, 20),
    token("sb_secret_", "Supabase token", Body::Url, 20),
    token("sk-admin-", "OpenAI key", Body::Url, 20),
    token("sk-or-v1-", "OpenRouter key", Body::Url, 20),
    token("sk-proj-", "OpenAI key", Body::Url, 20),
    token("sk_live_", "Stripe key", Body::Alnum, 16),
    token("sk_test_", "Stripe key", Body::Alnum, 16),
    token("secret_", "Notion token", Body::Alnum, 40).strict(),
    token("sk-ant-", "Anthropic key", Body::Url, 16),
    token("sntrys_", "Sentry token", Body::Path, 40),
    token("sntryu_", "Sentry token", Body::Hex, 40),
    token("sq0atp-", "Square token", Body::Url, 22),
    token("sq0csp-", "Square token", Body::Url, 40),
    token("shpat_", "Shopify token", Body::Alnum, 32),
    token("shpca_", "Shopify token", Body::Alnum, 32),
    token("shppa_", "Shopify token", Body::Alnum, 32),
    token("shpss_", "Shopify token", Body::Alnum, 32),
    token("sk-lf-", "Langfuse key", Body::Url, 20),
    token("sbp_", "Supabase token", Body::Hex, 40),
    token("sk-", "OpenAI key", Body::Url, 20).strict(),
    token("sk_", "ElevenLabs key", Body::Hex, 40).strict(),
    token("sl.", "Dropbox token", Body::Url, 100).strict(),
    token("tskey-", "Tailscale key", Body::Url, 20),
    token("tvly-", "Tavily key", Body::Url, 24),
    token("tfp_", "Typeform token", Body::Dotted, 40),
    token("webhook.office.com/webhookb2/", "Teams webhook", Body::Path, 30).after_address(),
    token("whsec_", "webhook secret", Body::Path, 16),
    token("waka_", "WakaTime key", Body::Url, 30),
    token("xapp-", "Slack token", Body::Path, 10),
    token("xoxa-", "Slack token", Body::Path, 10),
    token("xoxb-", "Slack token", Body::Path, 10),
    token("xoxc-", "Slack token", Body::Path, 10),
    token("xoxd-", "Slack token", Body::Path, 10),
    token("xoxe-", "Slack token", Body::Path, 10),
    token("xoxe.", "Slack token", Body::Path, 10),
    token("xoxo-", "Slack token", Body::Path, 10),
    token("xoxp-", "Slack token", Body::Path, 10),
    token("xoxr-", "Slack token", Body::Path, 10),
    token("xoxs-", "Slack token", Body::Path, 10),
    token("xai-", "xAI key", Body::Alnum, 40),
    token("ya29.", "Google token", Body::Dotted, 20),
    token("y0_", "Yandex token", Body::Url, 50).strict(),
];

const fn token(prefix: &'static str, label: &'static str, body: Body, least: usize) -> Token {
    Token { prefix, label, body, least, most: usize::MAX, is_strict: false, keeps_prefix: false }
}

impl Token {
    const fn exactly(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    const fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    const fn after_address(mut self) -> Self {
        self.keeps_prefix = true;
        self
    }
}

/// Where in the table the tokens with each first byte begin.
pub(super) static INDEX: [u8; 257] = index();

const fn index() -> [u8; 257] {
    let mut index = [0; 257];
    let mut byte = 0;
    let mut at = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the table is shorter than 256")]
        let place = at as u8;
        index[byte] = place;
        while at < TOKENS.len() && TOKENS[at].prefix.as_bytes()[0] as usize == byte {
            at += 1;
        }
        byte += 1;
    }
    assert!(at == TOKENS.len() && at < 256, "the table is in the order of the first bytes");
    #[expect(clippy::cast_possible_truncation, reason = "just asserted")]
    let end = at as u8;
    index[256] = end;
    index
}

/// One bit for each pair of bytes with which a token may begin.
pub(super) static PAIRS: [u64; 1024] = pairs();

const fn pairs() -> [u64; 1024] {
    let mut pairs = [0; 1024];
    let mut at = 0;
    while at < TOKENS.len() {
        let prefix = TOKENS[at].prefix.as_bytes();
        let pair = (prefix[0] as usize) << 8 | prefix[1] as usize;
        pairs[pair >> 6] |= 1 << (pair & 63);
        at += 1;
    }
    pairs
}
