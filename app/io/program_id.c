#include "io/program_id.h"

#include <elf.h>
#include <link.h>
#include <string.h>

static const char OWNER[] = "GNU";

/* A part of a note is padded to four bytes. */
static size_t padded(size_t len)
{
    return (len + 3) & ~(size_t)3;
}

static uint64_t notes_read(const char *notes, size_t len)
{
    uint64_t id = 0;
    while (len >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        memcpy(&head, notes, sizeof head);
        size_t name = padded(head.n_namesz), content = padded(head.n_descsz);
        if (name + content > len - sizeof head)
            break;
        const char *text = notes + sizeof head;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof OWNER && head.n_descsz >= sizeof id &&
            memcmp(text, OWNER, sizeof OWNER) == 0) {
            memcpy(&id, text + name, sizeof id);
            break;
        }
        notes = text + name + content;
        len -= sizeof head + name + content;
    }
    return id;
}

/* The first object is the program itself. Returns 1, which ends the iteration. */
static int object_read(struct dl_phdr_info *info, size_t size, void *id)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && *(uint64_t *)id == 0; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_NOTE)
            *(uint64_t *)id = notes_read((const char *)(info->dlpi_addr + part->p_vaddr), part->p_memsz);
    }
    return 1;
}

uint64_t program_id(void)
{
    uint64_t id = 0;
    (void)dl_iterate_phdr(object_read, &id);
    return id;
}
