savedcmd_kernel/fork.o := gcc -Wp,-MMD,kernel/.fork.o.d -I/s/src/arch/x86/include -I./include -include /s/src/include/linux/kconfig.h -fmacro-prefix-map=/s/src/= -c -o kernel/fork.o /s/src/kernel/fork.c

source_kernel/fork.o := /s/src/kernel/fork.c

deps_kernel/fork.o := \
    $(wildcard include/config/MMU) \
  /s/src/include/linux/slab.h \
  /s/src/arch/x86/boot/compressed/../string.c \

kernel/fork.o: $(deps_kernel/fork.o)
