package command

// buildPrograms compile, test and run code.
var buildPrograms = []program{
	{"make|gmake|ninja|just|task|mage|rake|invoke|tox|nox|scons|meson|bazel|bazelisk|buck|pants|waf", catBuild, "-C:r -f:r -j:num -l:num -d:word -k:num", "word*"},
	{"cmake|ctest|cpack|autoconf|automake|autoreconf|configure|bootstrap|qmake", catBuild, "-S:r -B:w -G:str -D:arg -j:num -R:str -P:r --build:r --target:arg --prefix:r", "r*"},
	{"gcc|g++|cc|c++|clang|clang++|tcc|ld|as|gfortran|rustc|javac|kotlinc|scalac|tsc|swiftc|ghc|fpc|nasm|protoc|flex|bison|yacc|lex|dmd|ldc2|valac|nvcc|emcc|mcs|csc", catBuild, "-o:w -I:r -L:r -D:arg -x:word -d:w -cp:arg -p:r", "r*"},
	{"go", catBuild, "-C:r", "sub r*"},
	{"go build|install|generate|vet|fmt|fix", catBuild, goFlags, "?*"},
	{"go test", catBuild, goFlags + " -run:str -bench:str -count:num -timeout:num -coverprofile:w -cpuprofile:w -fuzz:str -fuzztime:num -benchtime:num -cpu:num", "?*"},
	{"go run", catBuild, goFlags, "r ?*"},
	{"go get", catConfigure, "", "pkg*"},
	{"go mod|work", catConfigure, "", "word pkg*"},
	{"go env|version|list|doc|help", catQuery, "-f:str -m", "pkg*"},
	{"go tool", catBuild, "", "word ?*"},
	{"gofmt|gofumpt|goimports|golangci-lint|staticcheck", catBuild, "-r:str", "r*"},
	{"cargo", catBuild, "--manifest-path:r -p:pkg --features:arg --bin:arg --target:arg -j:num --test:arg", "sub ?*"},
	{"cargo add|install|remove|update|uninstall", catConfigure, "--version:arg", "pkg*"},
	{"cargo publish", catDeploy, "-p:pkg", "?*"},
	{"cargo tree|search|metadata|doc|info", catQuery, "-p:pkg", "?*"},
	{"mvn|mvnw|gradle|gradlew|ant|sbt|lein|maven", catBuild, "-f:r -pl:arg -P:arg -D:arg -p:r -b:r", "word*"},
	{"dotnet", catBuild, "-c:arg -o:w -f:arg", "sub ?*"},
	{"dotnet add|new|tool|nuget", catConfigure, "", "word pkg*"},
	{"pytest|py.test|nosetests|unittest|jest|vitest|mocha|karma|cypress|playwright|rspec|phpunit|minitest|bats|gotestsum", catBuild, "-k:str -m:str -n:num -t:str -c:r --cov:arg", "r*"},
	{"eslint|prettier|black|ruff|flake8|pylint|mypy|isort|shellcheck|shfmt|rubocop|clang-format|clang-tidy|stylelint|tslint|hadolint|yamllint|buf|pre-commit", catBuild, "-c:r --config:r", "?*"},
	{"webpack|vite|rollup|esbuild|parcel|gulp|grunt|next|nuxt|ng|turbo|nx|lerna|tsup|babel|swc|sass|postcss|hugo|jekyll|mkdocs|sphinx-build|pdflatex|latexmk|xelatex|bibtex|doxygen", catBuild, "-c:r -o:w", "?*"},
	{"perl", 0, "-e:str -E:str -pe:str -ne:str -M:arg -I:r", "r ?*"},
	{"python|ipython|pypy|node|deno|ruby|php|lua|Rscript|R|julia|java|scala|kotlin|groovy|ts-node|tsx|tclsh|guile|racket|erl|elixir|iex|ghci|irb", 0, "-c:str -m:word -e:str -r:str -I:r -jar:r -cp:arg -W:arg --eval:str", "r ?*"},
	{"gdb|lldb|dlv|strace|ltrace|perf|valgrind|pdb|ktrace|dtrace|bpftrace|rr|uftrace|heaptrack|pprof|jstack|jmap|jcmd|jps|jdb|py-spy|rbspy|ftrace|dtruss", catDebug, "-p:num -o:w -e:arg -x:r", "?*"},
	{"objdump|nm|readelf|ldd|size|addr2line|c++filt|objcopy|strip|otool|ctags|cscope|cloc|tokei|scc", catQuery, "-o:w -j:arg", "r*"},
	{"createdb|dropdb|dbca|alembic|flyway|liquibase|prisma|rails|artisan|knex|sequelize|manage.py|initdb|pg_ctl", catConfigure, "-d:arg -h:host -p:port -D:r", "word ?*"},
}

const goFlags = "-o:w -tags:arg -ldflags:str -p:num -mod:word -gcflags:str"
