# A formula for the tap sprag-dev/homebrew-tap; packaging/dist fills in version and checksums.
class Sprag < Formula
  desc "Guard that notices runaway LLM agents and stops them"
  homepage "https://github.com/sprag-dev/sprag"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/sprag-dev/sprag/releases/download/v#{version}/sprag-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/sprag-dev/sprag/releases/download/v#{version}/sprag-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "https://github.com/sprag-dev/sprag/releases/download/v#{version}/sprag-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/sprag-dev/sprag/releases/download/v#{version}/sprag-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "sprag"
    bash_completion.install "completions/sprag.bash" => "sprag"
    zsh_completion.install "completions/_sprag"
    fish_completion.install "completions/sprag.fish"
    man1.install Dir["man/*.1"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/sprag --version")
    assert_match "destructive", shell_output("#{bin}/sprag rules")
  end
end
