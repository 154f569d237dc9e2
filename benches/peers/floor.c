/* The floor: what a bridge cannot go below. It moves the same bytes as a bridge does, by the same
 * system calls (one line from stdin, one frame to the socket, one frame back, one line to stdout),
 * and understands none of them.
 *
 *   floor SOCKET CUT PAD
 *
 * CUT bytes at a request's end are not sent on, and PAD bytes are written before an answer: by so
 * much a frame is shorter than its line in a bridge. A line that begins with '#' is given back as
 * it came, without a socket: the floor of a bridge's answers to its client's first requests.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { SPACE = 16 << 20, PREFIX = 4, MOST_PAD = 1024 };

static unsigned char line[SPACE], frame[SPACE], filler[MOST_PAD];

static void write_all(int to, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t written = writev(to, parts, count);
        if (written < 0)
            exit(1);
        while (count > 0 && (size_t)written >= parts->iov_len) {
            written -= parts->iov_len;
            parts++, count--;
        }
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + written;
            parts->iov_len -= written;
        }
    }
}

/* The next line's length without its end. A client sends the next one after its answer only. */
static size_t read_line(void)
{
    size_t filled = 0;
    for (;;) {
        ssize_t count = read(STDIN_FILENO, line + filled, SPACE - filled);
        if (count <= 0)
            exit(count < 0);
        unsigned char *end = memchr(line + filled, '\n', count);
        if (end)
            return end - line;
        filled += count;
    }
}

/* The length of the next frame's payload. */
static size_t read_frame(int from)
{
    size_t filled = 0, size = 0;
    while (filled < PREFIX || filled < PREFIX + size) {
        ssize_t count = read(from, frame + filled, SPACE - filled);
        if (count <= 0)
            exit(1);
        filled += count;
        if (filled >= PREFIX)
            size = (size_t)frame[0] << 24 | frame[1] << 16 | frame[2] << 8 | frame[3];
        if (size > SPACE - PREFIX)
            exit(1);
    }
    return size;
}

static int dial(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (to < 0 || strlen(path) >= sizeof address.sun_path)
        exit(1);
    strcpy(address.sun_path, path);
    if (connect(to, (struct sockaddr *)&address, sizeof address) < 0)
        exit(1);
    return to;
}

static void relay(int to, size_t length, size_t cut, size_t pad)
{
    if (length < cut)
        exit(1);
    uint32_t size = length - cut;
    unsigned char prefix[PREFIX] = {size >> 24, size >> 16, size >> 8, size};
    struct iovec request[] = {{prefix, PREFIX}, {line, size}};
    write_all(to, request, 2);
    size = read_frame(to);
    struct iovec answer[] = {{filler, pad}, {frame + PREFIX, size}, {"\n", 1}};
    write_all(STDOUT_FILENO, answer, 3);
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 64;
    size_t cut = strtoul(arguments[2], 0, 10), pad = strtoul(arguments[3], 0, 10);
    if (pad > MOST_PAD)
        return 64;
    memset(filler, ' ', pad);
    for (int to = -1;;) {
        size_t length = read_line();
        if (line[0] == '#') {
            struct iovec echo = {line, length + 1};
            write_all(STDOUT_FILENO, &echo, 1);
            continue;
        }
        if (to < 0)
            to = dial(arguments[1]);
        relay(to, length, cut, pad);
    }
}
