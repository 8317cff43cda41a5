package effects

import "github.com/recountdb/recount/schemas/wordset"

var words = wordset.Of

// looking are programs that change nothing, unless their output is redirected.
var looking = words(`ls dir ll la l exa eza lsd tree cat bat tac less more most head tail grep egrep fgrep zgrep rg ag ack
 nl od xxd hexdump strings file stat du df ncdu find gfind fd locate which whereis type whatis man info apropos tldr help
 pwd dirs echo printf date cal uptime uname hostname whoami id groups who w users last tty env printenv locale
 ps top htop btop pgrep pidof jobs lsof fuser ss netstat free vmstat iostat dmesg journalctl lscpu lsblk lspci lsusb nproc arch
 wc sort uniq cut paste join comm tr rev fold fmt column expand unexpand seq yes shuf awk gawk mawk nawk sed gsed perl
 diff cmp colordiff sdiff md5sum sha1sum sha256sum sha512sum b2sum cksum sum base64 readlink realpath basename dirname
 jq yq xmllint xq gron csvcut csvlook csvstat envsubst test [ [[ true false : sleep wait expr bc dc factor let
 history fc nm objdump readelf ldd size otool zcat bzcat xzcat zless ping dig nslookup host traceroute whois getent getconf
 openssl gpg column cloc tokei pstree watch time tput clear reset stty fg bg disown logout exit return shift local cd pushd popd
 read mapfile readarray getopts exec command builtin export declare typeset readonly unset alias unalias source . eval set shopt
 umask ulimit trap bind complete compgen compopt hash caller times bindkey toe captoinfo xargs sudo doas nice nohup timeout stdbuf setsid parallel curl wget http tee`)

// ofFish are commands of fish that change no file.
var ofFish = words(`string math count contains status functions abbr psub set_color commandline argparse emit random prevd nextd cdh dirh fish_add_path
 fish_config block`)

// byResources are programs that change what their recorded resources say, and nothing else.
var byResources = words(`ln link truncate install chmod chown chgrp setfacl objcopy strip cpio rename mkfifo gcc g++ cc c++ clang clang++ tcc ld as rustc javac protoc nasm gfortran sponge jar createdb
 mv cp rm mkdir rmdir touch patch openssl convert magick ffmpeg pandoc`)

// compilers read what is below the directory (headers, modules) and write their output alone.
var compilers = words("gcc g++ cc c++ clang clang++ tcc ld as rustc javac protoc nasm gfortran cpp")

// interactive are programs that need a terminal, unless they are given something to do.
var interactive = words(`vi vim nvim nano emacs ed pico micro hx kak mcedit joe vimdiff visudo vipw crontab-e tmux screen htop btop top
 mc ranger nnn lazygit tig gitk fzf dialog whiptail gdb lldb man less more most info passwd su login telnet ftp minicom`)

// editors change the files that they open.
var editors = words("vi vim nvim nano emacs ed pico micro hx kak mcedit joe code subl gedit")

// shells and languages are interactive without a script.
var shells = words("bash sh zsh dash ksh fish python python3 ipython node irb ghci psql mysql mariadb sqlite3 mongo mongosh redis-cli ruby php lua R julia scala erl iex perl deno bun")

// builders make files of names that are not known.
var builders = words(`make gmake ninja just task mage rake scons meson bazel bazelisk cmake autoconf automake autoreconf configure bootstrap
 npm yarn pnpm bun npx go cargo mvn mvnw gradle gradlew ant sbt lein dotnet webpack vite rollup esbuild parcel gulp grunt tsc
 hugo jekyll mkdocs sphinx-build latexmk pdflatex xelatex pip pip3 pipx uv poetry pipenv conda mamba gem bundle composer docker podman
 msbuild xcodebuild swift mix rebar3 stack cabal ghc flutter dart terraform tofu buf ansible venv virtualenv build`)

// checking are programs that only test or judge.
var checking = words(`prove pytest py.test nosetests unittest jest vitest mocha rspec phpunit bats ctest gotestsum shellcheck eslint flake8 pylint
 mypy pyright hadolint yamllint golangci-lint staticcheck tflint markdownlint ruff-check clang-tidy py_compile pyflakes doctest bandit`)

// checkingSubs are subcommands and targets that only test or judge.
var checkingSubs = words(`test check lint vet tests unittest unit-test typecheck clippy audit verify validate plan fmt-check coverage bench
 doctor outdated version --version -v --help`)

// lookingSubs are subcommands that change nothing, by program.
var lookingSubs = map[string]map[string]bool{
	"git": words(`diff-tree status log diff show blame annotate ls-files ls-tree ls-remote rev-parse rev-list reflog describe shortlog cat-file grep
 for-each-ref show-ref whatchanged count-objects cherry range-diff name-rev merge-base check-ignore var help version fsck verify-commit difftool bugreport`),
	"docker":         words("ps images logs inspect version info stats top port history search diff events context"),
	"podman":         words("ps images logs inspect version info stats top port history search diff events"),
	"kubectl":        words("get describe logs explain version cluster-info api-resources api-versions top config auth diff events"),
	"helm":           words("list ls status history get show search version env template lint"),
	"npm":            words("-v query ls list view info outdated audit search root bin why help explain prefix config whoami get"),
	"yarn":           words("list info why outdated audit"),
	"pnpm":           words("list ls why outdated audit"),
	"pip":            words("list show freeze check search index config debug"),
	"pip3":           words("list show freeze check search index config debug"),
	"go":             words("version env list doc help vet test tool"),
	"cargo":          words("tree search metadata info version test check clippy bench"),
	"apt":            words("list search show policy depends rdepends"),
	"apt-cache":      words("search show policy depends rdepends madison"),
	"brew":           words("list search info outdated deps doctor config"),
	"systemctl":      words("status is-active is-enabled is-failed list-units list-unit-files show cat"),
	"terraform":      words("plan validate show output version graph providers console"),
	"gh":             words("auth status browse"),
	"conda":          words("list info search env"),
	"gem":            words("list search info outdated"),
	"aws":            words("help"),
	"openssl":        words("version"),
	"crontab":        words("-l"),
	"tmux":           words("ls list-sessions"),
	"docker-compose": words("ps logs config images top port version"),
}

// portReaders are programs that call a service.
var portReaders = words("curl wget http https xh nc ncat telnet psql pg_isready mysql mysqladmin redis-cli mongo mongosh ab wrk hey grpcurl websocat ftp httpie nmap")

// always are variables that every program reads, the one by which the shell divides words, and the time that builds stamp.
var always = words("LANG LC_ALL LC_CTYPE LC_COLLATE LC_NUMERIC TZ HOME TMPDIR IFS SOURCE_DATE_EPOCH")

// Always reports whether every program reads a variable.
func Always(name string) bool { return always[name] }

// tabled reports whether a program is in a table, so that it is not opaque.
func tabled(name string) bool {
	return looking[name] || byResources[name] || checking[name] || interactive[name] || editors[name] || name == "git" || name == "tar" || name == "bsdtar" || name == "kill" || name == "ar" || suffixes[name] != "" || name == "unzip" || name == "recount" || name == "iconv" || name == "gofmt" || name == "gofumpt" || name == "tic" || name == "infocmp" || name == "crudini" || name == "shred" || name == "unlink" || name == "rsync" || name == "dd" || name == "zip" || name == "split" || name == "csplit"
}

// wordsOnly are programs whose operands are no paths.
var wordsOnly = words("echo printf seq export local declare typeset readonly unset return exit shift set shopt wait jobs kill getopts read let expr")

// objcopyFlags are the flags of objcopy with a value.
const objcopyFlags = "-I -O -F -B -R -j -N -K -L -G -W -b -i --input-target --output-target --target --binary-architecture --remove-section " +
	"--only-section --strip-symbol --keep-symbol --keep-section --localize-symbol --globalize-symbol --weaken-symbol " +
	"--redefine-sym --redefine-syms --rename-section --add-section --update-section --dump-section --set-section-flags " +
	"--set-section-alignment --change-section-address --add-gnu-debuglink --add-symbol --prefix-symbols --prefix-sections " +
	"--gap-fill --pad-to --set-start"

// keyOutputs are the flags by which openssl and gpg are told what to write.
var keyOutputs = words("-out --output -o -keyout")
