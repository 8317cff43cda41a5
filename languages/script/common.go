package script

import "github.com/recountdb/recount/languages/scope"

// commonMethods are names of methods that objects of JavaScript engines, of Node, of browsers and of
// well known libraries have. A call of one on a value of unknown type says little about what is
// called.
var commonMethods = scope.WordSet(`
abort accept add addEventListener addListener addHook after all allSettled any append appendChild appendFile apply assert assign at
attachShadow auth before bind blur build bubble call callee cancel cancelAnimationFrame catch change charAt charCodeAt cleanup clear
clearInterval clearTimeout click clone cloneNode close closest codePointAt collect compare compareDocumentPosition compile
concat configure confirm connect contains copy copyFile cork count create createElement createElementNS createHash createHmac
createInterface createReadStream createServer createTextNode createTextRange createWriteStream cwd debug decode defer define
defineProperty del delete deleteProperty deref describe destroy detach disable disconnect dispatch dispatchEvent
dispose done drain each elementFromPoint emit emitKeypressEvents emitWarning enable encode encodeURIComponent end endsWith ensure ensureDir
entries enqueue equal equals error eval every exec execFile execFileSync execSync execute exists existsSync exit expect extend
fail fetch fill filter finally find findIndex findLast finish finished first flat flatMap flush focus forEach fork format freeze from fromCharCode
fromEntries get getAll getAttribute getBoundingClientRect getComputedStyle getContext getDate getDay getElementById getElementsByClassName
getElementsByTagName getFullYear getHeader getHours getItem getMilliseconds getMinutes getMonth getOwnPropertyDescriptor
getOwnPropertyNames getPrototypeOf getReader getSeconds getSelection getState getTime getTimezoneOffset getUTCDate getValue getWriter
grep handle has hasAttribute hasOwn hasOwnProperty head hide hook html includes indexOf info init inject insert insertBefore inspect
install invoke is isArray isFinite isInteger isNaN isPrototypeOf it item items join json keys kill last lastIndexOf length link listen listenerCount
listeners load localeCompare lock log lookup lstat lstatSync map match matchAll matches max mean merge min mkdir mkdirSync mkdtemp
move next nextTick normalize notify now observe of off on once onerror onload open option options pad padEnd padStart parse
parseFloat parseInt patch pause pipe play pop post postMessage prepend preventDefault print process promises prop prototype push put query
querySelector querySelectorAll queue race random raw read readFile readFileSync readable readdir readdirSync readline ready
realpath realpathSync record redirect reduce reduceRight refresh register reject relative release reload remove
removeAllListeners removeAttribute removeChild removeEventListener removeItem removeListener rename renameSync render repeat replace
replaceAll replaceChild request requestAnimationFrame require reset resolve respond resume reverse rm rmSync rmdir rmdirSync round route rsort run save
schedule scroll scrollIntoView scrollTo search seal search select send serialize set setAttribute setDate setEncoding setFullYear
setHeader setHours setImmediate setInterval setItem setLocale setMinutes setMonth setName setPrototypeOf setProperty setRequestHeader setState
setTimeout setValue setup shift show shutdown size skip slice some sort spawn spawnSync splice split start startsWith stat statSync status stop
stopImmediatePropagation stopPropagation stringify sub submit subscribe substr substring sum symlink sync tail take tap test text then throw
toArray toDataURL toFixed toISOString toJSON toLocaleDateString toLocaleLowerCase toLocaleString toLocaleTimeString toLocaleUpperCase toLowerCase toObject toPrecision
toString toUTCString toUpperCase toggle trace transform trigger trim trimEnd trimLeft trimRight trimStart truncate type uncork unlink
unlinkSync unlock unmount unpipe unref unregister unshift unsubscribe update upload use val validate value valueOf values verify
wait walk warn watch wrap write writeFile writeFileSync writeHead yield
addClass addTrailers afterAll afterEach arrayBuffer beforeAll beforeEach byteLength camelCase cloneDeep createConnection createElementFromHTML
createRequire createSign createVerify deepEqual deepStrictEqual defaultsDeep doesNotThrow endOf eventNames fadeIn fadeOut firstChild flushHeaders
formatToParts fromEntries getAgent getBuffer getConnection getHeaderNames getHeaders getMaxListeners getModifierState getNamedItem getRandomValues
getRemote getRootNode getStdin getUTCDay getUTCFullYear getUTCHours getUTCMilliseconds getUTCMinutes getUTCMonth getUTCSeconds groupBy hasClass beginPath bezierCurveTo clearRect closePath createLinearGradient createPattern createRadialGradient drawImage fillRect fillText getImageData hasHeader isPointInPath lineTo measureText moveTo putImageData quadraticCurveTo setLineDash setTransform strokeRect strokeText
hasOwnProperty ifError insertAdjacentElement insertAdjacentHTML isAfter isAlive isBefore isBlockDevice isBuffer isDate isDirectory isEmpty isEqual
isError isExtensible isFIFO isFile isFrozen isFunction isInteger isMap isNil isNull isNumber isObject isPaused isPlainObject isRegExp isSafeInteger isSame
isSealed isSet isSocket isString isSymbol isSymbolicLink isTTY isUndefined isValid kebabCase keyBy localStorage mapValues mockClear
mockImplementation mockReset mockResolvedValue mockReturnValue notEqual notStrictEqual opendir orderBy parentNode pickBy prependListener
prependOnceListener randomBytes randomUUID rawListeners readDoubleBE readInt32LE readUInt16BE readUInt32BE readUInt8 removeClass removeHeader
resetAllMocks resolvedOptions restoreAllMocks scrollTop setBreakpoint setDefaultEncoding setKeepAlive setMaxListeners setMinutes setNoDelay setRawMode
setSeconds setSystemTime setUint8 snakeCase sortBy spyOn startCase startOf stopListening strictEqual timingSafeEqual toEqual toBe toBeDefined toBeNull toContain
toHaveBeenCalled toHaveBeenCalledWith toMatch toMatchObject toMatchSnapshot toThrow toDate toPath toPromise toStrictEqual toggleClass unescape uniqBy
componentDidCatch componentDidMount componentDidUpdate componentWillMount componentWillReceiveProps componentWillUnmount componentWillUpdate
forceUpdate getChildContext getDerivedStateFromError getDerivedStateFromProps getSnapshotBeforeUpdate shouldComponentUpdate
upperFirst useFakeTimers userInfo waitFor writeContinue writeInt32LE writeUInt16BE writeUInt32BE writeUInt8 writev throwIfAborted`)

// typeNames are types of JavaScript engines, of Node and of browsers. A documentation comment that names one means it,
// unless the code around it declares another.
var typeNames = scope.WordSet(`
AbortSignal AbstractWorker Animation AnimationEvent Arguments ArrayLike AsyncFunction AsyncGenerator AsyncIterable Attr Audio AudioBuffer
AudioContext AudioNode BroadcastChannel CSSRule CSSStyleDeclaration CSSStyleSheet CanvasGradient CanvasPattern CanvasRenderingContext2D
CharacterData ChildProcess ClipboardEvent CloseEvent Comment Console Crypto CryptoKey CustomEvent DOMException DOMMatrix DOMParser
DOMPoint DOMRect DOMString DOMTokenList DataTransfer Dirent Document DocumentFragment DragEvent Duplex Element ErrorEvent Event
EventEmitter EventListener EventSource EventTarget File FileList FileReader FileSystem FocusEvent Function GainNode Gamepad Generator
GeneratorFunction Geolocation GPUAdapter GPUBuffer GPUDevice GPUTexture HTMLAnchorElement HTMLButtonElement HTMLCanvasElement HTMLCollection HTMLDivElement
HTMLDocument HTMLElement HTMLFormElement HTMLImageElement HTMLInputElement HTMLMediaElement HTMLScriptElement HTMLVideoElement History
IDBDatabase Image ImageBitmap ImageData InputEvent IntersectionObserver Iterable Iterator KeyboardEvent Location MediaStream
MessageChannel MessageEvent MessagePort MouseEvent MutationObserver NamedNodeMap Navigator Node NodeList Notification Option
OffscreenCanvas Path2D Performance PointerEvent Process ProgressEvent PromiseLike Range Readable ReadableStream ResizeObserver
SVGElement Screen Selection Server ServerResponse IncomingMessage ClientRequest ServiceWorker Socket Stats Storage Stream StorageEvent Text TextEvent TextTrack TimeRanges Timeout
Touch TouchEvent TouchList TrackEvent Transform TransformStream TypedArray UIEvent WebGLBuffer WebGLProgram WebGLRenderingContext
WebGL2RenderingContext WebGLTexture WebSocket WheelEvent Window Worker Writable WritableStream XMLDocument XMLHttpRequest XRFrame XRSession`)
