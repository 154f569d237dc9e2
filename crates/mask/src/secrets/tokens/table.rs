//! The table of tokens, by their first byte, and longer prefixes before shorter ones.

use super::{TokenBody, TokenPattern};

/// All kinds of tokens.
pub(in crate::secrets) const TOKENS: [TokenPattern; 129] = [
    token("1//0", "Google token", TokenBody::Url, 40),
    token("AGE-SECRET-KEY-1", "age key", TokenBody::Upper, 40),
    token("AGE-PLUGIN-", "age key", TokenBody::Path, 60),
    token("ATATT3", "Atlassian token", TokenBody::Path, 40),
    token("ATCTT3", "Atlassian token", TokenBody::Path, 40),
    token("ABIA", "AWS key", TokenBody::Upper, 16).exactly(16).strict(),
    token("ABSK", "AWS key", TokenBody::Path, 80),
    token("ACCA", "AWS key", TokenBody::Upper, 16).exactly(16).strict(),
    token("AIza", "Google key", TokenBody::Url, 35),
    token("AKCp", "Artifactory key", TokenBody::Alnum, 60).strict(),
    token("AKIA", "AWS key", TokenBody::Upper, 16).exactly(16).strict(),
    token("AQVN", "Yandex key", TokenBody::Url, 34).strict(),
    token("ASIA", "AWS key", TokenBody::Upper, 16).exactly(16).strict(),
    token("ATBB", "Bitbucket token", TokenBody::Alnum, 28).strict(),
    token("CCIPAT_", "CircleCI token", TokenBody::Url, 40),
    token("CFPAT-", "Contentful token", TokenBody::Url, 40),
    token("EAAA", "Square token", TokenBody::Url, 56).strict(),
    token("EAAC", "Facebook token", TokenBody::Alnum, 60).strict(),
    token("EZAK", "EasyPost key", TokenBody::Alnum, 54).strict(),
    token("GOCSPX-", "Google client secret", TokenBody::Url, 20),
    token("HRKU-", "Heroku key", TokenBody::Url, 30),
    token("NRAK-", "New Relic key", TokenBody::Upper, 20),
    token("PMAK-", "Postman key", TokenBody::Url, 40),
    token("SG.", "SendGrid key", TokenBody::Dotted, 40).strict(),
    token("SK", "Twilio key", TokenBody::Hex, 32).exactly(32).strict(),
    token("api_org_", "Hugging Face token", TokenBody::Alnum, 30),
    token("bedrock-api-key-", "AWS key", TokenBody::Path, 40),
    token("bkua_", "Buildkite token", TokenBody::Hex, 40),
    token("discordapp.com/api/webhooks/", "Discord webhook", TokenBody::Path, 30).after_address(),
    token("discord.com/api/webhooks/", "Discord webhook", TokenBody::Path, 30).after_address(),
    token("dckr_oat_", "Docker token", TokenBody::Url, 20),
    token("dckr_pat_", "Docker token", TokenBody::Url, 20),
    token("doo_v1_", "DigitalOcean token", TokenBody::Hex, 40),
    token("dop_v1_", "DigitalOcean token", TokenBody::Hex, 40),
    token("dor_v1_", "DigitalOcean token", TokenBody::Hex, 40),
    token("dp.pt.", "Doppler token", TokenBody::Alnum, 40),
    token("dp.st.", "Doppler token", TokenBody::Dotted, 40),
    token("dapi", "Databricks token", TokenBody::Hex, 32).strict(),
    token("figd_", "Figma token", TokenBody::Url, 30),
    token("fm2_", "Fly token", TokenBody::Path, 40),
    token("fo1_", "Fly token", TokenBody::Url, 40),
    token("github_pat_", "GitHub token", TokenBody::Url, 22),
    token("glagent-", "GitLab token", TokenBody::Url, 16),
    token("glsoat-", "GitLab token", TokenBody::Url, 16),
    token("glcbt-", "GitLab token", TokenBody::Url, 16),
    token("glimt-", "GitLab token", TokenBody::Url, 16),
    token("gloas-", "GitLab token", TokenBody::Url, 16),
    token("glpat-", "GitLab token", TokenBody::Dotted, 16),
    token("glptt-", "GitLab token", TokenBody::Url, 16),
    token("gldt-", "GitLab token", TokenBody::Url, 16),
    token("glft-", "GitLab token", TokenBody::Url, 16),
    token("glrt-", "GitLab token", TokenBody::Dotted, 16),
    token("glsa_", "Grafana token", TokenBody::Url, 20),
    token("gho_", "GitHub token", TokenBody::Alnum, 20),
    token("ghp_", "GitHub token", TokenBody::Alnum, 20),
    token("ghr_", "GitHub token", TokenBody::Alnum, 20),
    token("ghs_", "GitHub token", TokenBody::Dotted, 20),
    token("ghu_", "GitHub token", TokenBody::Alnum, 20),
    token("glc_", "Grafana token", TokenBody::Path, 20).strict(),
    token("gsk_", "Groq key", TokenBody::Alnum, 30),
    token("hooks.slack.com/workflows/", "Slack webhook", TokenBody::Path, 20).after_address(),
    token("hooks.slack.com/services/", "Slack webhook", TokenBody::Path, 20).after_address(),
    token("hooks.slack.com/triggers/", "Slack webhook", TokenBody::Path, 20).after_address(),
    token("hvb.", "Vault token", TokenBody::Url, 20),
    token("hvr.", "Vault token", TokenBody::Url, 20),
    token("hvs.", "Vault token", TokenBody::Url, 20),
    token("hf_", "Hugging Face token", TokenBody::Alnum, 30),
    token("key-", "Mailgun key", TokenBody::Hex, 32).exactly(32).strict(),
    token("lin_api_", "Linear key", TokenBody::Alnum, 30),
    token("lsv2_pt_", "LangSmith key", TokenBody::Url, 40),
    token("lsv2_sk_", "LangSmith key", TokenBody::Url, 40),
    token("nsec1", "Nostr key", TokenBody::Alnum, 58).strict(),
    token("nfp_", "Netlify token", TokenBody::Alnum, 30),
    token("npm_", "npm token", TokenBody::Alnum, 30),
    token("ntn_", "Notion token", TokenBody::Alnum, 40),
    token("ops_eyJ", "1Password token", TokenBody::Path, 80),
    token("oy2", "NuGet key", TokenBody::Alnum, 43).exactly(43).strict(),
    token("pscale_tkn_", "PlanetScale token", TokenBody::Dotted, 30),
    token("pscale_pw_", "PlanetScale password", TokenBody::Dotted, 30),
    token("pplx-", "Perplexity key", TokenBody::Alnum, 40),
    token("pypi-", "PyPI token", TokenBody::Url, 40).strict(),
    token("pnu_", "Prefect key", TokenBody::Alnum, 36),
    token("pul-", "Pulumi token", TokenBody::Hex, 40).strict(),
    token("rubygems_", "RubyGems key", TokenBody::Hex, 40),
    token("rk_live_", "Stripe key", TokenBody::Alnum, 16),
    token("rk_test_", "Stripe key", TokenBody::Alnum, 16),
    token("r8_", "Replicate token", TokenBody::Alnum, 36).strict(),
    token("sk-svcacct-", "OpenAI key", TokenBody::Url, 20),
    token("sb_secret_", "Supabase token", TokenBody::Url, 20),
    token("sk-admin-", "OpenAI key", TokenBody::Url, 20),
    token("sk-or-v1-", "OpenRouter key", TokenBody::Url, 20),
    token("sk-proj-", "OpenAI key", TokenBody::Url, 20),
    token("sk_live_", "Stripe key", TokenBody::Alnum, 16),
    token("sk_test_", "Stripe key", TokenBody::Alnum, 16),
    token("secret_", "Notion token", TokenBody::Alnum, 40).strict(),
    token("sk-ant-", "Anthropic key", TokenBody::Url, 16),
    token("sntrys_", "Sentry token", TokenBody::Path, 40),
    token("sntryu_", "Sentry token", TokenBody::Hex, 40),
    token("sq0atp-", "Square token", TokenBody::Url, 22),
    token("sq0csp-", "Square token", TokenBody::Url, 40),
    token("shpat_", "Shopify token", TokenBody::Alnum, 32),
    token("shpca_", "Shopify token", TokenBody::Alnum, 32),
    token("shppa_", "Shopify token", TokenBody::Alnum, 32),
    token("shpss_", "Shopify token", TokenBody::Alnum, 32),
    token("sk-lf-", "Langfuse key", TokenBody::Url, 20),
    token("sbp_", "Supabase token", TokenBody::Hex, 40),
    token("sk-", "OpenAI key", TokenBody::Url, 20).strict(),
    token("sk_", "ElevenLabs key", TokenBody::Hex, 40).strict(),
    token("sl.", "Dropbox token", TokenBody::Url, 100).strict(),
    token("tskey-", "Tailscale key", TokenBody::Url, 20),
    token("tvly-", "Tavily key", TokenBody::Url, 24),
    token("tfp_", "Typeform token", TokenBody::Dotted, 40),
    token("webhook.office.com/webhookb2/", "Teams webhook", TokenBody::Path, 30).after_address(),
    token("whsec_", "webhook secret", TokenBody::Path, 16),
    token("waka_", "WakaTime key", TokenBody::Url, 30),
    token("xapp-", "Slack token", TokenBody::Path, 10),
    token("xoxa-", "Slack token", TokenBody::Path, 10),
    token("xoxb-", "Slack token", TokenBody::Path, 10),
    token("xoxc-", "Slack token", TokenBody::Path, 10),
    token("xoxd-", "Slack token", TokenBody::Path, 10),
    token("xoxe-", "Slack token", TokenBody::Path, 10),
    token("xoxe.", "Slack token", TokenBody::Path, 10),
    token("xoxo-", "Slack token", TokenBody::Path, 10),
    token("xoxp-", "Slack token", TokenBody::Path, 10),
    token("xoxr-", "Slack token", TokenBody::Path, 10),
    token("xoxs-", "Slack token", TokenBody::Path, 10),
    token("xai-", "xAI key", TokenBody::Alnum, 40),
    token("ya29.", "Google token", TokenBody::Dotted, 20),
    token("y0_", "Yandex token", TokenBody::Url, 50).strict(),
];

const fn token(
    prefix: &'static str,
    label: &'static str,
    body: TokenBody,
    least: usize,
) -> TokenPattern {
    TokenPattern {
        prefix,
        label,
        body,
        least,
        most: usize::MAX,
        is_strict: false,
        keeps_prefix: false,
    }
}

impl TokenPattern {
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
