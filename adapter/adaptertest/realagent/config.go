package realagent

import (
	"fmt"
	"os"
	"path/filepath"
)

// Every configuration forbids updates, sharing and statistics, and names one
// provider, stub, with the key dummy.

func configureOpenCode(home, _, model string) ([]string, error) {
	return nil, write(filepath.Join(home, ".config", "opencode", "opencode.json"), `{
  "autoupdate": false, "share": "disabled", "enabled_providers": ["stub"],
  "model": "stub/stub", "small_model": "stub/stub",
  "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "stub",
    "options": {"baseURL": %q, "apiKey": "dummy"},
    "models": {"stub": {"name": "stub", "limit": {"context": 2000000, "output": 8000}}}}}
}`, model+"/v1")
}

func configureGemini(home, _, model string) ([]string, error) {
	env := []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + model}
	return env, write(filepath.Join(home, ".gemini", "settings.json"), `{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}
}`)
}

func configureCodex(home, work, model string) ([]string, error) {
	return []string{"STUB_KEY=dummy"}, write(filepath.Join(home, ".codex", "config.toml"), `model = "stub"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.stub]
name = "stub"
base_url = %q
env_key = "STUB_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[projects.%q]
trust_level = "trusted"
`, model+"/v1", work)
}

func configurePi(home, _, model string) ([]string, error) {
	return []string{"STUB_KEY=dummy"}, write(filepath.Join(home, ".pi", "agent", "models.json"), `{
  "providers": {"stub": {"baseUrl": %q, "apiKey": "STUB_KEY", "api": "openai-completions",
    "models": [{"id": "stub", "name": "stub", "reasoning": false, "input": ["text"],
      "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, "contextWindow": 200000, "maxTokens": 8000}]}}
}`, model+"/v1")
}

func write(path, format string, args ...any) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600)
}
